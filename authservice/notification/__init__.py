"""E-mail and SMS: a worker turns jobs into messages and sends them through the host's services."""
