"""The order of the description: sections, which become tags, and the paths in each.

Paths are in the order in which a client uses them, from a sign-up to administration. The paths of a
module that is not installed are ignored.
"""

from __future__ import annotations

from dataclasses import dataclass

from django.apps import apps
from django.utils import translation

from authservice.openapi.routes import Route


@dataclass(frozen=True)
class Section:
    """A tag, its description, and its paths; a path includes those below it."""

    name: str
    text: str
    paths: tuple[str, ...]


SECTIONS = (
    Section(
        "Sign-up",
        "Create an account, and verify its e-mail address or phone number.",
        (
            *("/signup", "/is-available", "/verify-email"),
            *("/send-verification-email", "/resend-verification-email", "/verify-phone"),
            *("/send-verification-phone", "/resend-verification-phone"),
        ),
    ),
    Section(
        "Login",
        "Log in with a password, answer the challenge of a second factor, refresh the tokens,"
        " confirm a login again and log out.",
        ("/login", "/2fa/verify-login", "/2fa/setup-login", "/refresh", "/step-up", "/logout"),
    ),
    Section(
        "Account",
        "Show, change, export and delete the account of the signed-in user.",
        (
            *("/me", "/profile", "/change-username", "/change-email"),
            *("/me/delete", "/me/export", "/account/delete", "/account/secure"),
        ),
    ),
    Section(
        "Passwords",
        "Change the password, or set a new one with a link or a code.",
        ("/change-password", "/forgot-password", "/reset-password"),
    ),
    Section(
        "Two-factor authentication",
        "Set up and disable the authenticator app and the backup codes of the signed-in user.",
        ("/2fa/status", "/2fa/setup", "/2fa/verify", "/2fa/backup-codes", "/2fa/disable"),
    ),
    Section("Magic links", "Sign in with a mailed link or code.", ("/magic-link",)),
    Section(
        "Passkeys",
        "Sign in with a passkey, and manage the passkeys of the signed-in user.",
        ("/passkeys/login", "/passkeys"),
    ),
    Section(
        "Social login",
        "Sign in with an identity provider, and link or unlink it.",
        ("/oauth/providers", "/oauth/linked", "/oauth"),
    ),
    Section("Sessions", "List and end the sessions of the signed-in user.", ("/sessions",)),
    Section(
        "Invitations",
        "Invite people to the service, accept and decline.",
        ("/invitations",),
    ),
    Section(
        "Organizations",
        "Create organizations, switch between them, and manage members and invitations.",
        ("/org", "/org/my", "/org/switch", "/org/invitations", "/org/{org_id}"),
    ),
    Section("Audit log", "What happened to the signed-in user's account.", ("/me/audit",)),
    Section(
        "Administration",
        "Manage users, and read the audit log of all of them. For super admins.",
        ("/admin/users", "/admin/audit", "/admin/audit/cleanup"),
    ),
    Section(
        "Discovery",
        "The CSRF token, and the public keys of access tokens.",
        ("/csrf-token", "/.well-known"),
    ),
)


def ordered(routes: list[Route]) -> list[Route]:
    """The routes in the order of the sections; those of no section at the end."""
    return sorted(routes, key=lambda route: _place(route.path) or (len(SECTIONS), 0))


def tag(route: Route) -> str:
    """The section of a route; for a route of no section, the readable name of its app."""
    place = _place(route.path)
    if place:
        return SECTIONS[place[0]].name
    app = apps.get_containing_app_config(route.view.__module__)
    with translation.override(None):  # the description is in English
        return str(app.verbose_name) if app else ""


def tags(used: list[str]) -> list[dict[str, str]]:
    """The tags in use, with their descriptions."""
    texts = {section.name: section.text for section in SECTIONS}
    return [
        {"name": name, **({"description": texts[name]} if name in texts else {})}
        for name in dict.fromkeys(used)
    ]


def _place(path: str) -> tuple[int, int] | None:
    """The numbers of the section and of its path. The longest path of all sections decides."""
    matches = [
        (len(entry), (number, place))
        for number, section in enumerate(SECTIONS)
        for place, entry in enumerate(section.paths)
        if f"{path}/".startswith(f"{entry}/")
    ]
    return max(matches)[1] if matches else None
