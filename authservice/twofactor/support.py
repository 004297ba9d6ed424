"""Fills the slot `support`: the second factor of a user. No secret, digest or code is shown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from authservice.core.credentials.attempt_counter import Counter
from authservice.core.users.person import Person
from authservice.kernel import clock
from authservice.kernel.client import Client
from authservice.kernel.phrases import admin_count
from authservice.kernel.phrases import admin_text as _
from authservice.kernel.support_parts import Button, Cell, Link, Obstacle, Section, Support
from authservice.twofactor import authenticators, backup_codes, codes, enrolment
from authservice.twofactor.models import Authenticator, RememberedDevice
from authservice.twofactor.verify_login import second_factor

_MODEL = "authservice_twofactor.authenticator"
_ATTEMPTS = {
    codes.TOTP: _("wrong codes of the app"),
    codes.BACKUP_CODE: _("wrong backup codes"),
}


def _is_enabled(person: Person) -> bool:
    found = authenticators.of(person)
    return bool(found and found.confirmed)


def _disable(person: Person, *, by: Any, client: Client) -> str:
    enrolment.remove(person, by=by, client=client)
    return _("The second factor is disabled, and all sessions have ended.")


_DISABLE = Button(
    name="disable-second-factor",
    label=_("Disable the second factor"),
    question=_(
        "Do this only if you know that you are talking to the user: from then on the password is"
        " enough to log in. The app and the backup codes stop working, and all sessions end. The"
        " user gets an e-mail."
    ),
    permission="authservice_twofactor.disable_authenticator",
    offered=_is_enabled,
    run=_disable,
)


class TwoFactorSupport(Support):
    view = "authservice_twofactor.view_authenticator"
    buttons = (_DISABLE,)

    def obstacles(self, person: Person) -> Iterator[Obstacle]:
        found = authenticators.of(person)
        if found and found.confirmed:
            left = backup_codes.remaining(found)
            text = admin_count(
                "A login needs a code of the authenticator app, or the one backup code that is"
                " left.",
                "A login needs a code of the authenticator app, or one of %(count)d backup codes.",
                left,
            )
            yield Obstacle(text, blocks=False)
        elif second_factor.is_required(person):
            text = _("A second factor is required and not set up: the next login begins with it.")
            yield Obstacle(text, blocks=False)

    def counters(self, person: Person) -> Iterable[Counter]:
        for kind, key in codes.keys(person):
            yield Counter(key, codes.BUDGET, _ATTEMPTS[kind], "auth.2fa.failed")

    def sections(self, person: Person) -> Iterator[Section]:
        headings = (_("app"), _("confirmed"), _("since"), _("last used"), _("remembered devices"))
        found = authenticators.of(person)
        rows = [_row(found)] if found else []
        yield Section(_("Second factor"), headings, rows)


def _row(found: Authenticator) -> list[Cell]:
    devices = RememberedDevice.objects.filter(authenticator=found.pk, expires_at__gt=clock.now())
    return [
        Link(_("Authenticator app"), _MODEL, found.pk),
        _("yes") if found.confirmed else _("no: the set-up is not finished"),
        found.enabled_at,
        found.last_used_at,
        str(devices.count()),
    ]


support = TwoFactorSupport()
