"""Access and refresh tokens, and the keys that sign them."""
