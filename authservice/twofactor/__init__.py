"""A second factor: codes of an authenticator app, and backup codes in case the app is lost."""
