"""System checks of the invitation module: e-mail delivery, and logins that are refused."""

from __future__ import annotations

from typing import Any

from django.apps import apps
from django.core.checks import CheckMessage, register

from authservice.core.conf import core
from authservice.kernel import message_queue
from authservice.kernel.checks import declare, message
from authservice.kernel.settings import complaints

declare(
    {
        "authservice.W180": (
            "'authservice.invitation' is installed without an app that sends e-mails, so no"
            " invitation is ever sent.",
            "Add 'authservice.notification' to INSTALLED_APPS.",
        ),
        "authservice.W185": (
            "CORE.REQUIRE_PHONE_VERIFICATION refuses the login of accounts without a phone number,"
            " so an invited address without an account cannot accept.",
            "Turn it off, or invite only addresses that have an account with a verified number.",
        ),
    }
)


def connect() -> None:
    register(check_invitations, "authservice")


def check_invitations(**_: Any) -> list[CheckMessage]:
    # The check of the core app reports wrong keys and types; until then, settings are unreadable.
    if not apps.is_installed("authservice.invitation") or list(complaints()):
        return []
    messages: list[CheckMessage] = []
    if not message_queue.can_mail():
        messages.append(message("authservice.W180"))
    if core.require_phone_verification:
        messages.append(message("authservice.W185"))
    return messages
