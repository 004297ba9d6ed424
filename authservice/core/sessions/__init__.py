"""Sessions: the row behind the tokens, its rotation, its end."""
