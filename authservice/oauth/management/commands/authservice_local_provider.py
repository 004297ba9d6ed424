"""`manage.py authservice_local_provider`: a stand-in for an OpenID provider on this machine.

With it, logins with Google can be tried without registering there and without the internet.

It lets everybody in as anybody. So it runs only with `DEBUG`, listens at the loopback interface
alone, and needs a package that a production installation does not have.
"""

from __future__ import annotations

import json
import warnings
from argparse import ArgumentParser
from importlib.util import find_spec
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError

from authservice.core.management.command_line import InterruptibleCommand
from authservice.oauth.provider_settings import BUILT_IN, name_problem

PORT = 9400
# The named providers that it can stand in for; the others have endpoints or claims of their own.
# With any other name it is a generic provider.
STOOD_IN_FOR = ("google", "gitlab")
# It accepts every client.
CLIENT = {"CLIENT_ID": "local", "CLIENT_SECRET": "only-for-development"}
USERS = ("ann@example.com", "bob@example.com")
PACKAGE = "oidc-provider-mock"
_HOST = "localhost"

# Replaces the layout of the package, which loads a style sheet from another host.
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


class Command(InterruptibleCommand):
    help = (
        "Run a stand-in for an OpenID provider such as Google on this machine, for development, and"
        " print the settings that lead to it. It accepts every client and every user."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--port", type=int, default=PORT, help="port to listen at (%(default)s)"
        )
        parser.add_argument(
            "--name", default="google", help="the provider to stand in for (%(default)s)"
        )
        parser.add_argument(
            "--user",
            action="append",
            metavar="ADDRESS",
            help="e-mail address of a user, who is then one click away; may be given several times",
        )

    def handle(
        self, *, port: int, name: str, user: list[str] | None = None, **options: Any
    ) -> None:
        if not settings.DEBUG:
            raise CommandError("This provider lets everybody in: it runs only with DEBUG = True.")
        if problem := name_problem(name):
            raise CommandError(f"{name!r} {problem}")
        if name in BUILT_IN and name not in STOOD_IN_FOR:
            raise CommandError(
                f"{name} has endpoints of its own. Use --name with one of"
                f" {', '.join(STOOD_IN_FOR)}, or with another name."
            )
        if find_spec("oidc_provider_mock") is None:
            raise CommandError(f"Install its package first: pip install {PACKAGE}")
        from werkzeug.serving import make_server

        try:
            server = make_server(_HOST, port, application(user or USERS), threaded=True)
        except (OSError, SystemExit):  # werkzeug exits after a message of its own
            raise CommandError(f"Port {port} is in use: choose another with --port.") from None
        self.stdout.write(f"Local provider {issuer(port)}\n\n{settings_for(name, port)}")
        self.stdout.flush()
        server.serve_forever()


def issuer(port: int) -> str:
    return f"http://{_HOST}:{port}"


def settings_for(name: str, port: int) -> str:
    """The lines for the settings of the project."""
    entry = json.dumps({"ISSUER": issuer(port), **CLIENT})
    return (
        "# settings.py, in development, below AUTHSERVICE\n"
        'AUTHSERVICE.setdefault("OAUTH", {}).setdefault("PROVIDERS", {})'
        f'["{name}"] = {entry}\n'
        'OUTBOUND = AUTHSERVICE.setdefault("OUTBOUND", {})\n'
        'for hosts in ("PRIVATE_HOSTS", "INSECURE_HOSTS"):\n'
        f'    OUTBOUND[hosts] = [*OUTBOUND.get(hosts, ()), "{_HOST}"]\n'
    )


def application(users: tuple[str, ...] | list[str]) -> Any:
    """The WSGI application of the provider."""
    # The package uses deprecated parts of Authlib, which overrides filters of warnings.
    with warnings.catch_warnings(record=True):
        from jinja2 import ChoiceLoader, DictLoader
        from oidc_provider_mock import User, app

    mock_users = []
    for address in users:
        name = address.partition("@")[0].replace(".", " ").title()
        claims = {"email": address, "email_verified": True, "name": name}
        mock_users.append(User(sub=address, claims=claims))
    provider = app(require_nonce=True, user_claims=mock_users)
    layout = DictLoader({"_base.html": _LAYOUT})
    provider.jinja_loader = ChoiceLoader([layout, provider.jinja_loader])
    return provider
