"""Signing up and logging in: the one door to tokens."""
