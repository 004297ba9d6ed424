"""Management of users by staff, over the API and in Django admin."""
