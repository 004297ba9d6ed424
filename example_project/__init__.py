"""A typical Django project that uses authservice, configured by environment variables."""
