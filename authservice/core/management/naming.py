"""The user whom an operator names on the command line."""

from __future__ import annotations

from django.core.exceptions import ValidationError
from django.core.management.base import CommandError

from authservice.core.users import lookup
from authservice.core.users.person import Person
from authservice.core.users.user_model import host


def named(text: str) -> Person:
    """By id, e-mail address or username. Raises `CommandError` for nobody, and for several: a text
    may be one user's id and another's name."""
    found = [_by_id(text), lookup.find_by_email(text), lookup.find_by_username(text)]
    people = {person.id: person for person in found if person}
    if not people:
        raise CommandError(f"There is no user {text!r}.")
    if len(people) > 1:
        raise CommandError(f"{text!r} may be user {' or '.join(people)}: name one otherwise.")
    return people.popitem()[1]


def _by_id(text: str) -> Person | None:
    try:
        return lookup.find_by_pk(host().model._meta.pk.to_python(text))
    except ValidationError:
        return None
