"""Ten thousand users, half of them with a second factor."""

import pytest
from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator as Allauth

from authservice.core.models import Account
from authservice.twofactor.models import Authenticator, BackupCode
from tests.coming_from.inside.conftest import old_users
from tests.coming_from.inside.factors import SEED, code_of, log_in

pytestmark = [pytest.mark.django_db, pytest.mark.slow]
MANY = 10_000


def test_ten_thousand_users_are_imported_once(bring, api):
    users = old_users(*(f"user{place}@example.com" for place in range(MANY)))
    EmailAddress.objects.bulk_create(
        EmailAddress(user=user, email=user.email, verified=True) for user in users
    )
    seeds = {"totp": {"secret": SEED}, "recovery_codes": {"seed": "ab" * 40, "used_mask": 1}}
    Allauth.objects.bulk_create(
        Allauth(user=user, type=kind, data=data)
        for user in users[::2]
        for kind, data in seeds.items()
    )

    for _ in range(2):
        bring("allauth")
        assert Account.objects.exclude(proven_email_key="").count() == MANY
        assert Authenticator.objects.count() == MANY // 2
        assert BackupCode.objects.count() == MANY // 2 * 9
    assert log_in(api, code_of(), users[0].email).data["access_token"]
