"""`--verified all`: the addresses of users who joined before the service was installed."""

from dataclasses import replace
from datetime import timedelta

import pytest
from django.core.management.base import CommandError
from django.utils import timezone

from authservice.core.models import Account
from authservice.core.recovery import earlier_proofs
from authservice.core.users.user_model import host
from tests.commands.proofs import ANN, BOB, UNPROVEN, old, proven
from tests.support.people import has, make_user

pytestmark = pytest.mark.django_db

needs_joined = pytest.mark.skipif(not has("date_joined"), reason="its users have no date_joined")


@pytest.fixture
def sync(run):
    return lambda *options: run("authservice_sync_accounts", *options)


@needs_joined
def test_all_proves_addresses_of_users_from_before(sync):
    ann = old()

    output = sync("--verified", "all")

    assert "1 address was marked as proven." in output
    assert UNPROVEN not in output
    assert proven(ann)


@needs_joined
def test_proven_address_has_no_time_of_a_proof(sync):
    # A time would make links and numbers from before it suspect.
    old()

    sync("--verified", "all")

    assert Account.objects.get().email_proven_at is None


@needs_joined
def test_option_all_skips_users_who_signed_up_later(sync):
    # An attacker may have signed up here with the address of another person.
    attacked = make_user(ANN, date_joined=timezone.now() + timedelta(seconds=1))

    output = sync("--verified", "all")

    assert not proven(attacked)
    assert "1 user joined after the service was installed" in output
    assert f"1 address is {UNPROVEN}" in output


@needs_joined
def test_joined_before_names_the_time_of_the_switch(sync):
    now = timezone.now()
    ann = make_user(ANN, date_joined=now + timedelta(days=1))
    bob = make_user(BOB, username="bob", date_joined=now + timedelta(days=3))
    switched = (now + timedelta(days=2)).isoformat()

    sync("--verified", "all", "--joined-before", switched)

    assert proven(ann)
    assert not proven(bob)


@needs_joined
@pytest.mark.parametrize("field", ["verified_email_key", "proven_email_key"])
def test_all_leaves_accounts_with_another_verified_address(sync, field):
    # The address was changed here since, so the project has not verified the present one.
    ann = make_user(ANN, date_joined=timezone.now() - timedelta(days=900))
    Account.objects.update(**{field: "0" * 64})

    sync("--verified", "all")

    assert not proven(ann)


@needs_joined
def test_option_all_can_be_repeated(sync):
    old()
    sync("--verified", "all")
    before = list(Account.objects.values())

    assert "0 addresses were marked" in sync("--verified", "all")
    assert list(Account.objects.values()) == before


def test_all_needs_the_time_at_which_users_joined(sync, monkeypatch):
    monkeypatch.setattr(earlier_proofs, "host", lambda: replace(host(), joined=""))

    with pytest.raises(CommandError, match="no `date_joined`"):
        sync("--verified", "all")
    assert Account.objects.count() == 0


@needs_joined
def test_all_needs_the_time_of_the_installation(sync, monkeypatch):
    monkeypatch.setattr(earlier_proofs, "installed_at", lambda: None)

    with pytest.raises(CommandError, match="--joined-before"):
        sync("--verified", "all")
