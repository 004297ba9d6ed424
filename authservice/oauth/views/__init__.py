"""The routes of this module."""
