"""The HTTP layer: requests, responses and their rules."""
