"""Messages to users: the limits on sending, and the contents of notices."""
