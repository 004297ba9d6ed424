"""E-mails and text messages: requests, limits, and what a queued job becomes."""
