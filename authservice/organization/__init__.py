"""Organizations: members with roles, invitations, and the active organization of a session."""
