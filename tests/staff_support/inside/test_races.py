"""Two members of staff press one button at the same moment: what is then no longer offered acts
once, everything else for each of them, and nobody sees an error."""

import json
from functools import partial

import pytest

from authservice.audit.models import Entry
from authservice.core.messages import kinds
from authservice.core.models import Account
from authservice.twofactor import enrolment
from tests.races.crowd import Crowd, asked_rounds, crowd_limit
from tests.staff_support.inside.conftest import button, lock_out, supporter
from tests.support import needs
from tests.support.people import the_user
from tests.twofactor.people import Person

pytestmark = [pytest.mark.django_db(transaction=True), needs.several_writers]

NOTHING = "Nothing was done"
# For each button the action in the log, what one of the two reads and what the other one does, and
# the kinds of mail.
ONCE = {
    "verify-email": ("admin.user.updated", "is marked as verified", []),
    "suspend": ("admin.user.suspended", "All sessions have ended", []),
    "disable-second-factor": (
        "auth.2fa.disabled",
        "The second factor is disabled",
        [enrolment.MAIL_DISABLED],
    ),
}


@pytest.fixture(autouse=True)
def _no_rate_limits(configure):
    configure(THROTTLE={"ENABLED": False})


@pytest.fixture
def both(api):
    """`both(name, email)`: the two pages that follow when both press the button of the user."""
    members = [supporter(f"helper{place}@example.com") for place in range(2)]
    with crowd_limit():
        crowd = Crowd(2)

        def press(name, email):
            url = button(name, email)
            answers = crowd.race([partial(member.send, url, email=email) for member in members])
            assert [answer.status_code for answer in answers] == [200, 200]
            return sorted(answer.content.decode() for answer in answers)

        yield press
        crowd.close()


@pytest.fixture
def users(api, post, clock):
    """The addresses of users with a second factor, one for each round."""

    def sign_up(number):
        email = f"ann{number}@example.com"
        tokens = api.sign_up(email)
        Person(api, token=tokens["access_token"], user_id=tokens["user"]["id"]).enrol()
        post.jobs.clear()
        return email

    return map(sign_up, asked_rounds(5))


def entries(action, email):
    found = Entry.objects.filter(action=action, actor_type="admin", target_id=the_user(email).pk)
    return [json.loads(entry.metadata) for entry in found]


def says(pages, text):
    return sum(text in page for page in pages)


def prove(email):
    row = Account.objects.get(email=email)
    Account.objects.filter(pk=row.pk).update(
        verified_email_key=row.email_key, proven_email_key=row.email_key
    )


@pytest.mark.parametrize("name", ONCE)
def test_button_that_is_offered_once_acts_once(both, users, post, name):
    action, done, mails = ONCE[name]
    for email in users:
        if name != "verify-email":
            prove(email)

        pages = both(name, email)

        assert (says(pages, done), says(pages, NOTHING)) == (1, 1)
        assert len(entries(action, email)) == 1
        assert post.kinds() == mails


def test_user_who_is_unlocked_by_both_was_locked_once(both, users, api):
    for email in users:
        lock_out(api, email)

        pages = both("unlock", email)

        assert (says(pages, "Unlocked"), says(pages, "was not locked")) == (1, 1)
        assert sorted(one["locked"] for one in entries("admin.user.unlocked", email)) == [0, 1]


def test_sessions_that_both_end_are_counted_once(both, users):
    for email in users:
        pages = both("end-sessions", email)

        assert (says(pages, "Ended 1 session."), says(pages, "Ended 0 sessions.")) == (1, 1)
        assert len(entries("security.session.revoked", email)) == 2


def test_reset_that_both_send_is_mailed_and_recorded_for_each(both, users, post):
    for email in users:
        pages = both("send-reset", email)

        assert says(pages, "is on its way to") == 2
        assert [(job.kind, job.target) for job in post.jobs] == [(kinds.RESET_BY_LINK, email)] * 2
        assert len(entries("auth.password.reset_requested", email)) == 2
