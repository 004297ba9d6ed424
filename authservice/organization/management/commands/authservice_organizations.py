"""`manage.py authservice_organizations`: list and create organizations, and transfer them."""

from __future__ import annotations

import unicodedata
from argparse import ArgumentParser
from itertools import groupby
from typing import Any

from django.core.management.base import CommandError
from django.db.models import Count, QuerySet

from authservice.core.management.command_line import InterruptibleCommand, counted, named
from authservice.kernel.client import Client
from authservice.organization import access, errors, organizations, staff
from authservice.organization.conf import NAME
from authservice.organization.models import Organization

_CONTROL = ("Cc", "Cs")  # control characters, and surrogates: bytes that are no UTF-8
_MARKS = 30  # combining marks in a row; `kernel.http.fields` has the same limit


class Command(InterruptibleCommand):
    help = "List and create organizations, transfer them, and find those without an owner."

    def add_arguments(self, parser: ArgumentParser) -> None:
        actions = parser.add_subparsers(dest="action", required=True)
        actions.add_parser("list", help="list all organizations with their owners")
        actions.add_parser("without-owner", help="list the organizations that have no owner")
        create = actions.add_parser("create", help="create an organization")
        create.add_argument("name")
        create.add_argument("owner", help="id, e-mail address or username")
        create.add_argument("--slug", default="", help="made from the name by default")
        transfer = actions.add_parser(
            "transfer", help="make a user the only owner; other owners become admins"
        )
        transfer.add_argument("organization", help="id or slug")
        transfer.add_argument("owner", help="id, e-mail address or username")

    def handle(self, *args: Any, **options: Any) -> None:
        action = options["action"]
        if action == "create":
            self._create(options["name"], options["owner"], options["slug"])
        elif action == "transfer":
            self._transfer(options["organization"], options["owner"])
        elif action == "list":
            self._list(Organization.objects.order_by("pk"))
        else:
            self._list(staff.without_owner())

    def _list(self, rows: QuerySet[Organization]) -> None:
        annotated = access.with_owner(rows).annotate(members=Count("memberships"))
        for row in annotated.iterator():
            state = "" if row.active else ", inactive"
            owner = getattr(row, "owner_pk", None) or "nobody"
            members = counted(getattr(row, "members", 0), "member")
            self.stdout.write(f"{row.pk} {row.slug}: {row.name}; owner {owner}, {members}{state}")

    def _create(self, name: str, owner: str, slug: str) -> None:
        # The API accepts the same names, and stores them in the same form.
        if not 0 < len(name.strip()) <= NAME:
            raise CommandError(f"The name must have 1 to {NAME} characters.")
        categories = [unicodedata.category(character) for character in name]
        if not set(categories).isdisjoint(_CONTROL):
            raise CommandError("The name must not contain control characters or broken Unicode.")
        runs = groupby(category[0] == "M" for category in categories)
        if any(of_marks and len([*run]) > _MARKS for of_marks, run in runs):
            raise CommandError(
                f"The name must not have more than {_MARKS} combining marks in a row."
            )
        name = unicodedata.normalize("NFC", name).strip()
        if slug and not organizations.is_slug(slug):
            raise CommandError(f"--slug: {organizations.RULE}")
        try:
            created = staff.create(named(owner), name=name, slug=slug)
        except errors.SlugTaken as error:
            raise CommandError(error.message) from error
        self.stdout.write(f"Created {created.slug} ({created.pk}).")

    def _transfer(self, text: str, owner: str) -> None:
        key = access.parse_id(text)
        rows = Organization.objects.filter(**({"pk": key} if key else {"slug": text}))
        organization = rows.first()
        if organization is None:
            raise CommandError(f"There is no organization {text!r}.")
        person = named(owner)
        staff.transfer(organization, person.user, client=Client())
        self.stdout.write(f"User {person.id} owns {organization.slug} now.")
