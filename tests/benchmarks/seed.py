"""Migrate and fill one side's database; runs inside that side's environment."""

import django
from django.contrib.auth import get_user_model
from django.contrib.auth.hashers import make_password
from django.core.management import call_command, get_commands

from tests.benchmarks import terms


def main() -> None:
    django.setup()
    call_command("migrate", verbosity=0)
    seed_users()
    if "authservice_sync_accounts" in get_commands():
        call_command("authservice_sync_accounts", verbosity=0)


def seed_users() -> None:
    """Create the users. They share one hash, because only its verification is measured."""
    users = get_user_model().objects
    if users.count() >= terms.USERS:
        return
    password = make_password(terms.PASSWORD)
    users.bulk_create(
        users.model(username=terms.USERNAME % n, email=terms.EMAIL % n, password=password)
        for n in range(terms.USERS)
    )


if __name__ == "__main__":
    main()
