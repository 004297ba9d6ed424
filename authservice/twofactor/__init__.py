"""A second factor: codes of an authenticator app, and backup codes for the day it is lost."""
