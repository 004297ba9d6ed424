"""The REST API of super admins: finding, changing, suspending and deleting users."""
