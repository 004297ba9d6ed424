"""Recovering, verifying and changing: the routes around one-time secrets, letters included."""
