"""An app whose users have fields of their own, and a profile beside them."""
