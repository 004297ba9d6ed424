"""CSRF tokens, and the guard that asks for them."""
