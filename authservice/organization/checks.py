"""System checks of organizations: their settings, and whether an app sends the invitations."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.apps import apps
from django.core.checks import CheckMessage, Tags, register

from authservice.kernel import message_queue
from authservice.kernel.checks import declare, message
from authservice.kernel.settings import complaints
from authservice.organization import organizations, roles
from authservice.organization.conf import conf

declare(
    {
        "authservice.W194": (
            "'authservice.organization' is installed without an app that sends e-mails, so nobody"
            " can be invited to an organization.",
            "Add 'authservice.notification' to INSTALLED_APPS.",
        ),
        "authservice.I196": (
            "ORGANIZATION.SWITCH_REQUIRES_REFRESH_TOKEN is off: POST /org/switch returns a refresh"
            " token to the holder of a stolen access token.",
            "Turn it on if your clients send their refresh token with POST /org/switch, or keep"
            " the one that they have.",
        ),
        "authservice.E197": (
            "An entry of ORGANIZATION.ROLES is invalid. Members with this role have no rights"
            " until it is corrected.",
            'An entry is a dict such as {"rank": 150, "may": ["invite"], "permissions":'
            ' ["reports.export"]}; owner, admin and member take permissions alone.',
        ),
        "authservice.W199": (
            "ORGANIZATION.RESERVED_SLUGS has an entry that is no slug, so it reserves nothing.",
            "Use lowercase characters a-z, digits and hyphens.",
        ),
    }
)


def connect() -> None:
    register(check_organizations, "authservice")
    register(check_production, Tags.security, deploy=True)


def check_organizations(**_: Any) -> Iterator[CheckMessage]:
    # Core's own check reports wrong keys and types; until they are fixed the settings cannot be
    # read.
    if not apps.is_installed("authservice.organization") or list(complaints()):
        return
    for slug in conf.reserved_slugs:
        if not isinstance(slug, str) or not organizations.is_slug(slug):
            yield message("authservice.W199", f"ORGANIZATION.RESERVED_SLUGS has {slug!r}.")
    for problem in roles.problems():
        yield message("authservice.E197", f"ORGANIZATION.ROLES: {problem}")
    if not message_queue.can_mail():
        yield message("authservice.W194")


def check_production(**_: Any) -> Iterator[CheckMessage]:
    if not apps.is_installed("authservice.organization") or list(complaints()):
        return
    if not conf.switch_requires_refresh_token:
        yield message("authservice.I196")
