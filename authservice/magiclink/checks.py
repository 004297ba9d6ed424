"""System checks of the magic-link module: e-mail delivery, link lifetime and callback URL."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import timedelta
from typing import Any

from django.apps import apps
from django.core.checks import CheckMessage, Tags, register

from authservice.core.conf import core
from authservice.core.recovery import chosen_proofs
from authservice.kernel import message_queue
from authservice.kernel.checks import message
from authservice.kernel.origins import is_web_address, parts_of
from authservice.kernel.sections import cookies, secure
from authservice.kernel.settings import complaints
from authservice.magiclink.conf import conf


def connect() -> None:
    register(check_magic_links, "authservice")
    register(check_old_passwords, "authservice", Tags.database)


def check_magic_links(**_: Any) -> list[CheckMessage]:
    # Core's own check reports wrong keys and types; until they are fixed, no setting can be read.
    if not apps.is_installed("authservice.magiclink") or list(complaints()):
        return []
    return [*_mail(), *_life(), *_callback(), *_registering(), *_confirming()]


def check_old_passwords(databases: Sequence[str] | None = None, **_: Any) -> Iterator[CheckMessage]:
    """Run by `migrate` and `check --database default`, since it queries the database."""
    installed = apps.is_installed("authservice.magiclink") and not list(complaints())
    if installed and chosen_proofs.is_any_at_risk(databases):
        yield message("authservice.W260")


def _mail() -> Iterator[CheckMessage]:
    if not message_queue.can_mail():
        yield message("authservice.E030")


def _life() -> Iterator[CheckMessage]:
    if conf.ttl <= timedelta(0):
        yield message("authservice.E032")


def _callback() -> Iterator[CheckMessage]:
    if not conf.callback_url:
        return
    given = f"MAGICLINK.CALLBACK_URL is {conf.callback_url!r}"
    if not is_web_address(conf.callback_url):
        yield message("authservice.E033", f"{given}, which is not an http or https URL.")
    elif "#" in conf.callback_url:
        yield message(
            "authservice.E033",
            f"{given}, which has a fragment. The tokens are sent in the fragment.",
            hint="Use a URL without a fragment. Its page can read the tokens from there.",
        )
    elif parts_of(conf.callback_url).scheme == "http" and secure():
        yield message("authservice.W034")


def _registering() -> Iterator[CheckMessage]:
    if conf.auto_register and core.require_phone_verification:
        yield message("authservice.W035")


def _confirming() -> Iterator[CheckMessage]:
    if conf.confirm == "off" and cookies.enabled:
        yield message("authservice.W036")
