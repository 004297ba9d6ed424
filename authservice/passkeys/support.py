"""Fills the slot `support`: the passkeys of a user. Staff see no id and no key."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from authservice.core.users.person import Person
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
from authservice.passkeys import keys, own_passkeys
from authservice.passkeys.models import Handle, Passkey

_MODEL = "authservice_passkeys.passkey"
_EXPORTED = (
    *("id", "name", "credential_id", "public_key", "transports", "aaguid", "backup_eligible"),
    *("backed_up", "second_factor", "verifies", "attested", "created_at", "last_used_at"),
)


def _has_passkeys(person: Person) -> bool:
    return bool(keys.of(person))


def _remove(person: Person, *, by: Any, client: Client) -> str:
    removed = own_passkeys.remove_by_staff(person, Passkey.objects.all(), by=by, client=client)
    return admin_count(
        "%(count)d passkey was removed.", "%(count)d passkeys were removed.", len(removed)
    )


_REMOVE = Button(
    name="remove-passkeys",
    label=_("Remove all passkeys"),
    question=_(
        "Do this only if you know that you are talking to the user: from then on none of the"
        " passkeys logs in or is asked for after the password. The sessions that began with a"
        " passkey end, all sessions if one was a second factor. The user gets an e-mail."
    ),
    permission="authservice_passkeys.remove_passkey",
    offered=_has_passkeys,
    run=_remove,
)


class PasskeySupport(Support):
    view = "authservice_passkeys.view_passkey"
    buttons = (_REMOVE,)

    def obstacles(self, person: Person) -> Iterator[Obstacle]:
        if any(passkey.second_factor for passkey in keys.of(person)):
            text = _("A login with the password asks for a passkey or another second factor.")
            yield Obstacle(text, blocks=False)

    def sections(self, person: Person) -> Iterator[Section]:
        headings = (
            _("name"),
            _("logs in alone"),
            _("second factor"),
            _("backed up"),
            _("added"),
            _("last used"),
        )
        rows: list[list[Cell]] = [
            [
                Link(passkey.name, _MODEL, passkey.pk),
                _yes_or_no(passkey.verifies),
                _yes_or_no(passkey.second_factor),
                _yes_or_no(passkey.backed_up),
                passkey.created_at,
                passkey.last_used_at,
            ]
            for passkey in keys.of(person)
        ]
        yield Section(_("Passkeys"), headings, rows)

    def personal_data(self, person: Person) -> Iterator[Part]:
        passkeys = Passkey.objects.filter(user=person.user.pk)
        handles = Handle.objects.filter(user=person.user.pk)
        yield Part(
            name="passkeys",
            purpose=phrase("Lets you log in with your passkeys."),
            after_deletion=REMOVED,
            rows=stored(passkeys, *_EXPORTED),
        )
        yield Part(
            name="passkey_handles",
            purpose=phrase("A random number by which your devices know your account."),
            after_deletion=REMOVED,
            rows=stored(handles, "value"),
        )


def _yes_or_no(value: bool) -> str:
    return _("yes") if value else _("no")


support = PasskeySupport()
