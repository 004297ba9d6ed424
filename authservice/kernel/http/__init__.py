"""The HTTP layer: requests and responses."""
