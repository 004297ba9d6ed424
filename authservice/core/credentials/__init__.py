"""Rules about credentials: attempts at codes, and the bound on password hashes."""
