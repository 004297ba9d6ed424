"""System checks: settings under which no token of simplejwt can be traded, and settings of replaced
packages that nothing reads."""

from __future__ import annotations

from typing import Any

from django.apps import apps
from django.conf import settings
from django.core.checks import CheckMessage, register
from django.db import router
from rest_framework_simplejwt.token_blacklist.models import BlacklistedToken, OutstandingToken

from authservice.compat.simplejwt.trade import conf, is_installed
from authservice.kernel import clock, databases, sections
from authservice.kernel.checks import declare, message
from authservice.kernel.interfaces import RequestGuard
from authservice.kernel.modules import plugs
from authservice.kernel.settings import complaints

declare(
    {
        "authservice.E210": (
            "Only one of SIMPLEJWT.TRADE_ISSUED_BEFORE and SIMPLEJWT.TRADE_UNTIL is set, so no"
            " refresh token of simplejwt is traded.",
            "Set both, or none.",
        ),
        "authservice.E211": (
            "SIMPLEJWT trades refresh tokens of simplejwt, and its block list is not installed."
            " Without it a forged token cannot be distinguished from an issued one, so none is"
            " traded.",
            "Add 'rest_framework_simplejwt.token_blacklist' to INSTALLED_APPS and migrate, one"
            " lifetime of refresh tokens before the move: it lists only tokens that are issued"
            " from then on.",
        ),
        "authservice.E212": (
            "The block list of simplejwt is not in the database of the accounts. A traded token"
            " must be blocked in the transaction of its session, which is not possible across"
            " databases.",
            "Route 'token_blacklist' to the database of 'authservice_core'.",
        ),
        "authservice.W213": (
            "SIMPLEJWT.TRADE_UNTIL has passed: no refresh token of simplejwt is traded any more.",
            "Remove the settings of SIMPLEJWT, and simplejwt's block list if nothing else uses it.",
        ),
        "authservice.W214": (
            "SIMPLEJWT.TRADE_COOKIE is never read, because tokens in cookies are not accepted.",
            "Set COOKIES.ENABLED and install authservice.csrf, or remove the setting.",
        ),
        "authservice.W215": (
            "A setting of a package that the project came from is set, but its app is not"
            " installed, so nothing reads it.",
            "Remove it. The pages on coming from other packages name the settings that replace it.",
        ),
    }
)

# The settings of packages that a project comes from, and the app that reads them.
_SETTINGS = {"REST_AUTH": "dj_rest_auth", "DJOSER": "djoser", "REST_KNOX": "knox"}


def connect() -> None:
    register(check_simplejwt, "authservice")


def check_simplejwt(**_: Any) -> list[CheckMessage]:
    # Core's own check reports wrong keys and types; until they are fixed, no setting can be read.
    if not apps.is_installed("authservice.compat.simplejwt") or list(complaints()):
        return []
    problems = []
    if bool(conf.trade_issued_before) != bool(conf.trade_until):
        problems.append(message("authservice.E210"))
    elif conf.trade_until and conf.trade_until.timestamp() < clock.now().timestamp():
        problems.append(message("authservice.W213"))
    trades = bool(conf.trade_issued_before and conf.trade_until)
    tables = (OutstandingToken, BlacklistedToken)
    if trades and not is_installed():
        problems.append(message("authservice.E211"))
    elif trades and {router.db_for_write(table) for table in tables} != {databases.primary()}:
        problems.append(message("authservice.E212"))
    if conf.trade_cookie and not (sections.cookies.enabled and plugs(RequestGuard)):
        problems.append(message("authservice.W214"))
    for name, app in _SETTINGS.items():
        if hasattr(settings, name) and not apps.is_installed(app):
            text = f"{name} is set, but {app!r} is not installed, so nothing reads it."
            problems.append(message("authservice.W215", text))
    return problems
