"""Changes that users make to their own account, with a proof of the owner."""
