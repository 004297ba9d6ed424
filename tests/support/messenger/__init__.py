"""A messenger that keeps jobs; a test composes their messages instead of a worker."""
