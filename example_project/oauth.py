"""Identity providers from environment variables: each one whose client id is set."""

import os
from typing import Any

import environ
from django.conf import settings

NAMED = ("google", "github", "microsoft", "discord", "facebook")
LOCAL_PORT = os.environ.get("AUTHSERVICE_LOCAL_PROVIDER_PORT") or "9400"
# What `manage.py serve` and `authservice_local_provider` start. It accepts every client.
LOCAL = {
    "CLIENT_ID": "console",
    "CLIENT_SECRET": "only-for-development",
    "ISSUER": f"http://localhost:{LOCAL_PORT}",
    "ENABLED": True,
}


def has_local_provider() -> bool:
    found = settings.AUTHSERVICE.get("OAUTH", {}).get("PROVIDERS", {})
    return bool(found.get("oidc", {}).get("ISSUER") == LOCAL["ISSUER"])


def section(env: environ.Env, *, local_provider: bool) -> dict[str, Any]:
    """The settings of `authservice.oauth`. With `local_provider` the name `oidc` is the local
    provider unless the environment has another."""
    found = providers(env)
    if local_provider and "oidc" not in found:
        found["oidc"] = dict(LOCAL)
    return {
        "PROVIDERS": found,
        "DEFAULT_REDIRECT_URL": env.str("AUTHSERVICE_OAUTH_DEFAULT_REDIRECT_URL", default=""),
        "ERROR_REDIRECT_URL": env.str("AUTHSERVICE_OAUTH_ERROR_REDIRECT_URL", default=""),
        "ALLOW_SIGNUP": env.bool("AUTHSERVICE_OAUTH_ALLOW_SIGNUP", default=True),
        "ALLOW_ACCOUNT_LINKING": env.bool("AUTHSERVICE_OAUTH_ALLOW_LINKING", default=True),
        "TRUST_EMAIL_VERIFICATION": env.bool("AUTHSERVICE_OAUTH_TRUST_EMAIL", default=True),
        "STATE_TTL": env.int("AUTHSERVICE_OAUTH_STATE_TTL", default=600),
        "USE_SESSION_AUTH": env.bool(
            "AUTHSERVICE_OAUTH_SESSION", default=env("AUTHSERVICE_LOGIN", default="") == "session"
        ),
    }


def providers(env: environ.Env) -> dict[str, dict[str, Any]]:
    """The settings of each provider by its name; a secret without a client id is ignored."""
    found = {name: given for name in (*NAMED, "apple", "oidc") if (given := _client(name))}
    if "apple" in found:
        found["apple"] = {**found["apple"], **_apple()}
        del found["apple"]["CLIENT_SECRET"]
    if "oidc" in found:
        found["oidc"]["ISSUER"] = env.str("OIDC_ISSUER")
        found["oidc"]["ENABLED"] = env.bool("OIDC_ENABLED", default=True)
        if domains := env.list("OIDC_EMAIL_DOMAINS", default=[]):
            found["oidc"]["EMAIL_DOMAINS"] = domains
    if not env.bool("AUTHSERVICE_OAUTH_PKCE", default=True):
        found = {name: {**given, "PKCE": False} for name, given in found.items()}
    return found


def _client(name: str) -> dict[str, Any]:
    client_id = _credential(f"{name.upper()}_CLIENT_ID")
    if not client_id:
        return {}
    secret = _credential(f"{name.upper()}_CLIENT_SECRET")
    return {"CLIENT_ID": client_id, "CLIENT_SECRET": secret}


def _apple() -> dict[str, str]:
    """The key is one line in which `\\n` separates its lines, or several lines."""
    names = ("TEAM_ID", "KEY_ID", "PRIVATE_KEY")
    return {name: _credential(f"APPLE_{name}").replace("\\n", "\n") for name in names}


def _credential(variable: str) -> str:
    """Not read with django-environ, which takes a value that starts with "$" for the name of
    another variable."""
    return os.environ.get(variable, "")
