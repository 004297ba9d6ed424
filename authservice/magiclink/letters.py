"""The mail with a link and a code, made in the worker like every letter."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from django.db import transaction

from authservice.core import directory, facts, letters, links, passwords, tickets
from authservice.core.letters import Letter
from authservice.core.people import Person
from authservice.core.tickets import Purpose
from authservice.kernel.client import Client
from authservice.kernel.events import Event
from authservice.kernel.messages import Message
from authservice.magiclink import strangers
from authservice.magiclink.conf import conf

KIND = "magic-link"
VERIFY = "magic-link-verify"  # the route


def purpose() -> Purpose:
    return Purpose("magic-link", link_ttl=conf.ttl, code_ttl=conf.ttl)


def composers() -> Mapping[str, Callable[[Message], Letter | None]]:
    return {KIND: _compose}


def _compose(message: Message) -> Letter | None:
    found = directory.find_by_email(message.target) or strangers.register(message)
    person = letters.reachable(found)
    if person is None:
        return None
    token, code = _mint(person, message)
    link = links.to_route(VERIFY, token=token)
    return letters.mail(message, person, link=link, code=code, expires_in=conf.ttl)


def _mint(person: Person, message: Message) -> tuple[str, str]:
    client = Client(request_id=message.request_id)
    with transaction.atomic(using=directory.database()):
        passwords.locked(person)
        facts.tell(Event(action="auth.magiclink.sent", user=person.user, client=client))
        return tickets.mint_pair(purpose(), person, person.email_key)
