"""Races of sessions, on databases that allow concurrent writes."""
