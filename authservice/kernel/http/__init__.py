"""The HTTP side: every wire rule in one place each."""
