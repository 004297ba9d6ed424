"""What invitations to the service and to organizations share: rows, mails, accepting, closing."""
