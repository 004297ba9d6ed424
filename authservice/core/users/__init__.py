"""Users: who somebody is, how they are found, created and kept in step with the host."""
