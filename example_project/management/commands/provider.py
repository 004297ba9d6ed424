"""`manage.py provider`: an OpenID provider on this machine, for logins from the console."""

import warnings
from argparse import ArgumentParser
from importlib.util import find_spec
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.core.management import BaseCommand, CommandError

from example_project.oauth import LOCAL

# Its own layout loads a style sheet from another host.
_LAYOUT = """\
<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="data:,">
<title>Local provider</title>
<style>input, button { min-height: 2rem; }</style>
<main>{% block content %}{{ content }}{% endblock %}</main>
</html>
"""
# Who may log in with one click; other names can be typed.
_USERS = ("ann", "bob")


class Command(BaseCommand):
    help = "Run an OpenID provider for development. It accepts every client and every user."

    def add_arguments(self, parser: ArgumentParser) -> None:
        port = urlsplit(LOCAL["ISSUER"]).port
        parser.add_argument("--port", type=int, default=port, help="(%(default)s)")

    def handle(self, *, port: int, **options: Any) -> None:
        if not settings.DEBUG:
            raise CommandError("This provider lets anybody in: it runs only with DEBUG=1.")
        if find_spec("oidc_provider_mock") is None:
            raise CommandError("Install it first: pip install oidc-provider-mock")
        from werkzeug.serving import run_simple

        self.stdout.write(f"Local provider {_issuer(port)}")
        self.stdout.write("Choose it in the console, then one of its users.")
        self.stdout.flush()
        run_simple("localhost", port, application(), threaded=True)


def application() -> Any:
    # Parts of Authlib that it uses are deprecated, and Authlib overrides filters of warnings.
    with warnings.catch_warnings(record=True):
        from jinja2 import ChoiceLoader, DictLoader
        from oidc_provider_mock import User, app

    users = [User(sub=name, claims=_claims(name)) for name in _USERS]
    provider = app(require_nonce=True, user_claims=users)
    own = DictLoader({"_base.html": _LAYOUT})
    provider.jinja_loader = ChoiceLoader([own, provider.jinja_loader])
    return provider


def _claims(name: str) -> dict[str, Any]:
    return {
        "email": f"{name}@provider.example.com",
        "email_verified": True,
        "name": name.title(),
    }


def _issuer(port: int) -> str:
    return f"http://localhost:{port}"
