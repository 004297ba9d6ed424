"""What staff do to users, over the API and in Django admin."""
