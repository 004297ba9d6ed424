"""Modules for projects that come from another package: its routes, and what its clients hold."""
