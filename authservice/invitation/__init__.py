"""Invitations to the service by e-mail."""
