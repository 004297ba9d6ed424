"""Logging out: this sign-in ends with all its tokens, other sign-ins go on."""

from __future__ import annotations

from django.contrib.auth.signals import user_logged_out
from django.db import transaction

from authservice.core import directory, facts, sign_ins
from authservice.core.models import SignIn
from authservice.core.people import Person
from authservice.kernel.client import Client
from authservice.kernel.events import Event


def log_out(person: Person, sign_in: SignIn, client: Client) -> None:
    with transaction.atomic(using=directory.database()):
        if sign_ins.end(sign_in.pk, sign_ins.LOGOUT):
            facts.tell(Event(action="auth.logout", user=person.user, client=client))
    user_logged_out.send(sender=type(person.user), request=client.http, user=person.user)
