"""Fills the slot `support`: the second factor of a user, for staff and for the export of data. No
secret, digest or code is shown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from authservice.core.credentials.attempt_counter import Counter
from authservice.core.users.person import Person
from authservice.kernel import clock
from authservice.kernel.client import Client
from authservice.kernel.languages import admin_count, phrase
from authservice.kernel.languages import admin_text as _
from authservice.kernel.support_parts import (
    REMOVED,
    Button,
    Cell,
    Link,
    Obstacle,
    Part,
    Section,
    Support,
    stored,
)
from authservice.twofactor import authenticators, enrolment
from authservice.twofactor.models import Authenticator, RememberedDevice
from authservice.twofactor.verify_login import second_factor

_MODEL = "authservice_twofactor.authenticator"
_ATTEMPTS = {
    authenticators.TOTP: _("wrong codes of the app"),
    authenticators.BACKUP_CODE: _("wrong backup codes"),
}


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
    offered=second_factor.is_enabled,
    run=_disable,
)


class TwoFactorSupport(Support):
    view = "authservice_twofactor.view_authenticator"
    buttons = (_DISABLE,)

    def obstacles(self, person: Person) -> Iterator[Obstacle]:
        authenticator = authenticators.of(person)
        if authenticator and authenticator.confirmed:
            codes_left = authenticators.remaining_backup_codes(authenticator)
            text = admin_count(
                "A login needs a code of the authenticator app, or the one backup code that is"
                " left.",
                "A login needs a code of the authenticator app, or one of %(count)d backup codes.",
                codes_left,
            )
            yield Obstacle(text, blocks=False)
        elif second_factor.is_required(person):
            text = _("A second factor is required and not set up: the next login begins with it.")
            yield Obstacle(text, blocks=False)

    def counters(self, person: Person) -> Iterable[Counter]:
        for kind, key in authenticators.attempt_keys(person):
            yield Counter(key, authenticators.BUDGET, _ATTEMPTS[kind], "auth.2fa.failed")

    def personal_data(self, person: Person) -> Iterable[Part]:
        devices = RememberedDevice.objects.filter(authenticator__user=person.user.pk)
        yield Part(
            name="authenticator_apps",
            purpose=phrase("Asks for a code of your app when you log in."),
            after_deletion=REMOVED,
            rows=[
                {
                    "name": app.name,
                    "confirmed": app.confirmed,
                    "set_up_at": app.set_up_at,
                    "enabled_at": app.enabled_at,
                    "last_used_at": app.last_used_at,
                    "device_id": app.device_id,
                    "backup_codes": app.backup_codes.count(),
                    "backup_codes_unused": authenticators.remaining_backup_codes(app),
                }
                for app in Authenticator.objects.filter(user=person.user.pk)
            ],
        )
        yield Part(
            name="remembered_devices",
            purpose=phrase("Devices on which a login needs no code of your app for some time."),
            after_deletion=REMOVED,
            rows=stored(devices, "device_id", "expires_at"),
        )

    def sections(self, person: Person) -> Iterator[Section]:
        headings = (_("app"), _("confirmed"), _("since"), _("last used"), _("remembered devices"))
        rows: list[list[Cell]] = []
        if authenticator := authenticators.of(person):
            devices = RememberedDevice.objects.filter(
                authenticator=authenticator.pk, expires_at__gt=clock.now()
            )
            rows.append(
                [
                    Link(_("Authenticator app"), _MODEL, authenticator.pk),
                    _("yes") if authenticator.confirmed else _("no: the set-up is not finished"),
                    authenticator.enabled_at,
                    authenticator.last_used_at,
                    str(devices.count()),
                ]
            )
        yield Section(_("Second factor"), headings, rows, empty=_("No second factor."))


support = TwoFactorSupport()
