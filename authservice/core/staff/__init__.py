"""What staff do: signing in to Django admin, and what they may change there."""
