"""Changes of one's own account hold for any number of concurrent requests."""
