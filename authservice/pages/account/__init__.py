"""The sections of the account that this package has, each for the routes of a module."""
