"""Breaks security-relevant lines one at a time, and checks that the named tests detect it."""
