"""Convert a mail URL to Django's settings, whose names changed in Django 6.1."""

from typing import Any

import django
import environ

OPTION_NAMES = {
    "EMAIL_HOST": "host",
    "EMAIL_PORT": "port",
    "EMAIL_HOST_USER": "username",
    "EMAIL_HOST_PASSWORD": "password",  # noqa: S105 the name of an option
    "EMAIL_USE_TLS": "use_tls",
    "EMAIL_USE_SSL": "use_ssl",
    "EMAIL_TIMEOUT": "timeout",
    "EMAIL_FILE_PATH": "file_path",
}
SECONDS = 10
MAILBOX = "example_project.console.mailbox.EmailBackend"


def mailer(url: str) -> dict[str, Any]:
    """Django's e-mail settings for the backend that `url` names."""
    config = {key: value for key, value in environ.Env.email_url_config(url).items() if value}
    if "EMAIL_HOST" in config:
        # Without a timeout, Django would wait for a hanging mail server permanently.
        config["EMAIL_TIMEOUT"] = SECONDS
    if django.VERSION < (6, 1):
        return config
    options = {name: config[key] for key, name in OPTION_NAMES.items() if key in config}
    return {"MAILERS": {"default": {"BACKEND": config["EMAIL_BACKEND"], "OPTIONS": options}}}


def mailbox() -> dict[str, Any]:
    """Django's e-mail settings for the mailbox of the example."""
    if django.VERSION < (6, 1):
        return {"EMAIL_BACKEND": MAILBOX}
    return {"MAILERS": {"default": {"BACKEND": MAILBOX}}}
