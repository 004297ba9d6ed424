"""Credentials: passwords, one-time tokens, known devices and limits on attempts."""
