"""One-time tokens and limits hold for any number of concurrent requests."""
