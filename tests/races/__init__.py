"""Concurrent requests: an action that may happen once happens once."""
