"""CSRF tokens and the request guard that requires them."""
