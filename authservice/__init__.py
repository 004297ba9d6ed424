"""Authentication back end for Django projects, over a REST API."""

__version__ = "0.1.0"
