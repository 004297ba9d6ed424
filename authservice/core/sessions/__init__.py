"""Sessions: the row behind the tokens, its refresh, and its revocation."""
