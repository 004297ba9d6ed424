"""Users, sessions and credentials: the base of all other modules."""
