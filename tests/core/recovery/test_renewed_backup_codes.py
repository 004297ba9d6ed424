"""The link of a security notice removes backup codes that were renewed since."""

import pytest

from authservice.core.messages import kinds
from authservice.twofactor.enrolment import MAIL_CODES_RENEWED
from authservice.twofactor.models import Authenticator, BackupCode
from tests.support.flows import PHONE, prove
from tests.twofactor.people import Person

pytestmark = pytest.mark.django_db


@pytest.fixture
def enrolled(api, clock):
    """A user with a second factor and a proven address, days later in a new session."""
    person = Person(api).sign_up().enrol()
    prove()
    clock.forward(days=4)
    person.token = person.verify_login(person.code()).data["access_token"]
    return person


@pytest.mark.parametrize("older", [True, False], ids=["link of an older notice", "own link"])
def test_codes_that_somebody_renewed_are_removed_by_the_link_of_a_notice(
    enrolled, api, post, clock, older
):
    """A thief of the session who once saw a code of the app would keep the new codes."""
    kind = kinds.PHONE_CHANGED if older else MAIL_CODES_RENEWED
    enrolled.api.request("PUT", "profile", {"phone": PHONE}, token=enrolled.token)
    clock.forward(minutes=1)
    renewed = enrolled.post("2fa/backup-codes", code=enrolled.code()).data["backup_codes"]

    secured = api.request("POST", "account/secure", {"token": post.token(kind)})

    assert (secured.status, len(renewed)) == (200, 10)
    assert Authenticator.objects.get().confirmed
    assert BackupCode.objects.count() == 0


def test_codes_from_before_a_notice_stay(enrolled, api, post):
    enrolled.api.request("PUT", "profile", {"phone": PHONE}, token=enrolled.token)

    api.request("POST", "account/secure", {"token": post.token(kinds.PHONE_CHANGED)})

    assert BackupCode.objects.count() == 10
