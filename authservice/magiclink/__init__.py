"""Passwordless login with an e-mailed link or code."""
