"""A host's user model that has no e-mail address: only the system checks ever see it."""
