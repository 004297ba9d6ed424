"""System checks of the magic-link module: whether mail can be sent, and settings that weaken it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from django.apps import apps
from django.core.checks import CheckMessage, Tags, register

from authservice.core.conf import core
from authservice.core.recovery import earlier_proofs
from authservice.kernel import message_queue
from authservice.kernel.checks import declare, message
from authservice.kernel.origins import parts_of
from authservice.kernel.sections import cookies, secure
from authservice.kernel.settings import complaints
from authservice.magiclink.conf import conf

declare(
    {
        "authservice.E030": (
            "'authservice.magiclink' is installed without an app that sends e-mails, so no magic"
            " link is ever sent.",
            "Add 'authservice.notification' to INSTALLED_APPS.",
        ),
        "authservice.W034": (
            "MAGICLINK.CALLBACK_URL is an http URL: an attacker on the network can add a script to"
            " the page that receives the tokens.",
            "Serve the front end over https, and use its https address.",
        ),
        "authservice.W035": (
            "MAGICLINK.AUTO_REGISTER creates accounts without a phone number, but"
            " CORE.REQUIRE_PHONE_VERIFICATION refuses their login.",
            "Set one of the two to False.",
        ),
        "authservice.W036": (
            "MAGICLINK.CONFIRM is 'off' and COOKIES.ENABLED is true: a page of another site can"
            " log its visitors in to an account of an attacker (login CSRF).",
            "Set MAGICLINK.CONFIRM to 'auto', the default.",
        ),
        "authservice.W260": (
            "Users from before the service was installed have a password and an address that is"
            " not proven: their first magic link removes the password.",
            "Name the addresses that the project has verified: manage.py authservice_sync_accounts"
            " --verified (see 'Verified addresses' on the page 'Your users' of the documentation)."
            " If an address is unproven because several users share it, change the address of all"
            " but one, then run this again. If the project has not verified the others, keep the"
            " removal, which protects their owners, and add 'authservice.W260' to"
            " SILENCED_SYSTEM_CHECKS. Or set CORE.WIPE_UNPROVEN to False.",
        ),
    }
)


def connect() -> None:
    register(check_magic_links, "authservice")
    # Without the tag "authservice": with it, `check --tag authservice` of Django 6.1 would give the
    # check every database.
    register(check_old_passwords, Tags.database)


def check_magic_links(**_: Any) -> list[CheckMessage]:
    # Core's own check reports wrong keys and types; until they are fixed, no setting can be read.
    if not apps.is_installed("authservice.magiclink") or list(complaints()):
        return []
    ids = []
    if not message_queue.can_mail():
        ids.append("authservice.E030")
    if parts_of(conf.callback_url).scheme == "http" and secure():
        ids.append("authservice.W034")
    if conf.auto_register and core.require_phone_verification:
        ids.append("authservice.W035")
    if conf.confirm == "off" and cookies.enabled:
        ids.append("authservice.W036")
    return [message(check_id) for check_id in ids]


def check_old_passwords(databases: Sequence[str] | None = None, **_: Any) -> Iterator[CheckMessage]:
    """Run by `migrate` and `check --database default`, since it queries the database."""
    installed = apps.is_installed("authservice.magiclink") and not list(complaints())
    if installed and earlier_proofs.is_any_at_risk(databases):
        yield message("authservice.W260")
