"""Signing in without a password, by a mailed link or code."""
