"""E-mails and text messages: requests, limits, and the messages of queued jobs."""
