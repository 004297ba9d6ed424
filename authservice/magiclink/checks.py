"""System checks of the magic-link module: e-mail delivery, link lifetime and callback URL."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any
from urllib.parse import urlsplit

from django.apps import apps
from django.core import checks

from authservice.core.conf import core
from authservice.kernel import message_queue
from authservice.kernel.sections import cookies, secure
from authservice.kernel.settings import complaints
from authservice.magiclink.conf import conf


def connect() -> None:
    checks.register(check_magic_links, "authservice")


def check_magic_links(**_: Any) -> list[checks.CheckMessage]:
    # The check of the core app reports wrong keys and types; until then, settings are unreadable.
    if not apps.is_installed("authservice.magiclink") or list(complaints()):
        return []
    return [*_mail(), *_life(), *_callback(), *_registering(), *_confirming()]


def _mail() -> Iterator[checks.CheckMessage]:
    if not message_queue.can_mail():
        yield _error(
            "E030",
            "Magic links are mailed, and nobody is installed who mails.",
            "Add 'authservice.notification' to INSTALLED_APPS.",
        )


def _life() -> Iterator[checks.CheckMessage]:
    if conf.ttl <= timedelta(0):
        yield _error("E032", "MAGICLINK.TTL leaves a link no time.", "The default is 15 minutes.")


def _callback() -> Iterator[checks.CheckMessage]:
    if not conf.callback_url:
        return
    parts = urlsplit(conf.callback_url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        yield _error(
            "E033",
            f"MAGICLINK.CALLBACK_URL is {conf.callback_url!r}, which is no web address.",
            "Give scheme, host and path, such as 'https://app.example.com/signed-in'.",
        )
    elif parts.fragment or "#" in conf.callback_url:
        yield _error(
            "E033",
            "MAGICLINK.CALLBACK_URL has a fragment, where the tokens go.",
            "Give a path of its own; a router that lives in the fragment can read it from there.",
        )
    elif parts.scheme == "http" and secure():
        yield checks.Warning(
            "AUTHSERVICE: MAGICLINK.CALLBACK_URL is http: whoever is on the line can put a script"
            " on the page that gets the tokens.",
            hint="Serve the front end by https.",
            id="authservice.W034",
        )


def _registering() -> Iterator[checks.CheckMessage]:
    if conf.auto_register and core.require_phone_verification:
        yield checks.Warning(
            "AUTHSERVICE: MAGICLINK.AUTO_REGISTER makes accounts without a number, and"
            " CORE.REQUIRE_PHONE_VERIFICATION lets none of them in.",
            hint="Turn one of the two off.",
            id="authservice.W035",
        )


def _confirming() -> Iterator[checks.CheckMessage]:
    if conf.confirm == "off" and cookies.enabled:
        yield checks.Warning(
            "AUTHSERVICE: MAGICLINK.CONFIRM is 'off' and COOKIES.ENABLED is true: a page of another"
            " site can log its visitors in to an account of an attacker (login CSRF).",
            hint="Set MAGICLINK.CONFIRM to 'auto', the default.",
            id="authservice.W036",
        )


def _error(id_: str, text: str, hint: str) -> checks.CheckMessage:
    return checks.Error(f"AUTHSERVICE: {text}", hint=hint, id=f"authservice.{id_}")
