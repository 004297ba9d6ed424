"""Users: identifiers, look-up, creation, and synchronisation with the host's user table."""
