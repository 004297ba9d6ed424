"""Races of sessions, on databases that let several write at once."""
