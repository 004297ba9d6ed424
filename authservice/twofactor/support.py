"""Fills the slot `support`: the second factor of a user. No secret, digest or code is shown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from django.utils import timezone

from authservice.core.credentials.attempt_counter import Counter
from authservice.core.users.person import Person
from authservice.kernel.phrases import admin_count
from authservice.kernel.phrases import admin_text as _
from authservice.kernel.support import Cell, Link, Obstacle, Section, Support
from authservice.twofactor import authenticators, backup_codes, gate, lockout
from authservice.twofactor.models import Authenticator, RememberedDevice

_MODEL = "authservice_twofactor.authenticator"
_ATTEMPTS = {
    lockout.TOTP: _("wrong codes of the app"),
    lockout.BACKUP_CODE: _("wrong backup codes"),
}


class TwoFactorSupport(Support):
    view = "authservice_twofactor.view_authenticator"

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
        elif gate.is_required(person):
            text = _("A second factor is required and not set up: the next login begins with it.")
            yield Obstacle(text, blocks=False)

    def counters(self, person: Person) -> Iterable[Counter]:
        for kind, key in lockout.keys(person):
            yield Counter(key, lockout.BUDGET, _ATTEMPTS[kind], "auth.2fa.failed")

    def sections(self, person: Person) -> Iterator[Section]:
        headings = (_("app"), _("confirmed"), _("since"), _("last used"), _("remembered devices"))
        found = authenticators.of(person)
        rows = [_row(found)] if found else []
        yield Section(_("Second factor"), headings, rows)


def _row(found: Authenticator) -> list[Cell]:
    devices = RememberedDevice.objects.filter(authenticator=found.pk, expires_at__gt=timezone.now())
    return [
        Link(_("Authenticator app"), _MODEL, found.pk),
        _("yes") if found.confirmed else _("no: the set-up is not finished"),
        found.enabled_at,
        found.last_used_at,
        str(devices.count()),
    ]


support = TwoFactorSupport()
