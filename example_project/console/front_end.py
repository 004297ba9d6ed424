"""The console as the front end: its pages, to which mailed links and providers lead."""

import sys
from importlib.util import find_spec

import environ

# Each shows the console, which reads the query and the fragment of the address.
PAGES = {
    "": "start",
    "verified": "verified",
    "signed-in": "signed-in",
    "reset-password": "reset",
    "invitations/accept": "invitation",
    "org/invitations/accept": "organization-invitation",
}


def wanted(env: environ.Env, *, debug: bool) -> bool:
    """Whether the console is installed: by `manage.py serve` with `DEBUG`, unless
    `AUTHSERVICE_CONSOLE` is set. Any other server runs the API alone."""
    return env.bool("AUTHSERVICE_CONSOLE", default=debug and sys.argv[1:2] == ["serve"])


def defaults(env: environ.Env, origin: str, *, console: bool) -> dict[str, str]:
    """The default values of the variables of a front end. `origin` is that of `API_URL`.

    All are empty without the console, or if `AUTHSERVICE_FRONTEND_URL` is set: to the origin of
    another front end, or to an empty text for none.
    """
    own = console and "AUTHSERVICE_FRONTEND_URL" not in env.ENVIRON
    return {
        "url": origin if own else "",
        "verified": "/verified" if own else "",
        "signed_in": f"{origin}/signed-in" if own else "",
    }


def styles() -> list[str]:
    """The folders of django-bulma's static files, found without an import of the package."""
    found = find_spec("bulma")
    return [f"{folder}/static" for folder in found.submodule_search_locations] if found else []
