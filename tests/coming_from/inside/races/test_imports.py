"""Imports run at once, and while users set up factors of their own and change their address."""

from functools import partial

import pytest
from allauth.account.models import EmailAddress
from django.contrib.auth import get_user_model

from authservice.core.models import Account
from authservice.core.users import lookup
from authservice.kernel.client import Client
from authservice.kernel.secret import Secret
from authservice.passkeys.models import Handle, Passkey
from authservice.twofactor import enrolment
from authservice.twofactor.models import Authenticator as App
from authservice.twofactor.models import BackupCode
from tests.coming_from.inside.conftest import old_users
from tests.coming_from.inside.factors import code_of, of_allauth
from tests.coming_from.inside.test_passkeys import KINDS
from tests.passkeys.authenticator import Authenticator
from tests.support.people import change

SIZE = 6
KEYS = dict(KINDS)


def users_of(number):
    emails = [f"user{number}-{place}@example.com" for place in range(SIZE)]
    return old_users(*emails)


def test_imports_at_once_import_each_factor_once(crowd, bring, rounds):
    for number in rounds:
        users = users_of(number)
        codes = sum(len(of_allauth(user)) for user in users)

        crowd.race([partial(bring, "allauth", "--batch-size", "2")] * 4)

        rows = App.objects.filter(user__in=users, confirmed=True)
        assert rows.count() == SIZE
        assert BackupCode.objects.filter(authenticator__in=rows).count() == codes


@pytest.mark.parametrize("source", KEYS)
def test_imports_at_once_import_each_passkey_once(crowd, bring, rounds, source):
    for number in rounds:
        users = users_of(number)
        for user in users:
            KEYS[source](user, Authenticator())

        crowd.race([partial(bring, source, "--batch-size", "2")] * 4)

        assert Passkey.objects.filter(user__in=users).count() == SIZE
        assert Handle.objects.filter(user__in=users).count() == SIZE


def confirm(user, secret):
    """The user confirms the app that is set up here; False if the import was first."""
    person = lookup.get_person(user)
    found = App.objects.filter(user=user, confirmed=False).first()
    if found is None:
        return False
    with enrolment.transaction.atomic():
        enrolment.passwords.lock_users([user.pk])
        return enrolment.enable(found, Secret(code_of(secret)), person, Client())


def test_set_up_that_is_confirmed_during_an_import_is_the_only_one(crowd, bring, rounds):
    for number in rounds:
        user = old_users(f"user{number}@example.com")[0]
        of_allauth(user)
        secret = enrolment.set_up_to_log_in(lookup.get_person(user)).secret.reveal()

        _, confirmed = crowd.race([partial(bring, "allauth"), partial(confirm, user, secret)])

        row = App.objects.get(user=user)
        assert row.confirmed
        # The factor set up here has ended other sessions, the imported one has not.
        version = Account.objects.get(user=user).factor_version
        assert (version == 1) is confirmed
        assert row.backup_codes.count() == 10


def test_address_that_changes_during_an_import_is_not_proven(crowd, bring, rounds):
    for number in rounds:
        first, second = f"first{number}@example.com", f"second{number}@example.com"
        user = old_users(first)[0]
        EmailAddress.objects.create(user=user, email=first, verified=True)

        crowd.race([partial(bring, "allauth"), partial(change, first, email=second)])

        person = lookup.get_person(get_user_model().objects.get(pk=user.pk))
        assert person.email == second
        assert not person.email_proven
