"""django-allauth headless, with session tokens or with JWTs."""
