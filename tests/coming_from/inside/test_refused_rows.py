"""A row of another package that the database refuses is named, and all others are imported."""

import pytest
from allauth.account.models import EmailAddress
from django.core.management import CommandError

from authservice.core.models import Account
from authservice.twofactor.models import Authenticator
from tests.coming_from.inside.conftest import old_users
from tests.coming_from.inside.factors import KINDS
from tests.support import triggers

pytestmark = pytest.mark.django_db
_triggers = triggers.of(Account, Authenticator)
EMAILS = [f"{name}@example.com" for name in ("ann", "bob", "carl")]


@pytest.fixture
def people():
    return old_users(*EMAILS)


def test_address_that_the_database_refuses_is_named(bring, people, capsys):
    rows = [
        EmailAddress.objects.create(user=user, email=user.email, verified=True) for user in people
    ]
    triggers.refuse(Account, user_id=people[1].pk)

    with pytest.raises(CommandError, match="refuses 1 row, which the report names"):
        bring("allauth")

    proven = Account.objects.exclude(proven_email_key="").values_list("user", flat=True)
    assert set(proven) == {people[0].pk, people[2].pk}
    assert rows[1].pk


@pytest.mark.parametrize(("source", "make"), KINDS)
def test_factor_that_the_database_refuses_is_named(bring, people, source, make):
    for user in people:
        make(user)
    triggers.refuse(Authenticator, user_id=people[1].pk)

    with pytest.raises(CommandError, match="refuses 1 row, which the report names"):
        bring(source)

    assert {row.user_id for row in Authenticator.objects.all()} == {people[0].pk, people[2].pk}
