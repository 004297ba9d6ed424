"""Modules for projects that come from another package: its routes, and its clients' tokens."""
