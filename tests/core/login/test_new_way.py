"""A new way to log in has the rules of the others, though it knows none of them."""

import pytest
from django.test import RequestFactory

from authservice.core import errors
from authservice.core.login import login
from authservice.core.models import OneTimeToken, Session
from authservice.core.users import lookup
from authservice.kernel.client import Client
from authservice.kernel.hooks import Refused
from tests.core.login import badges
from tests.support.people import deactivate, make_user, the_user
from tests.support.slots import listening
from tests.twofactor.people import Person

pytestmark = pytest.mark.django_db


@pytest.fixture
def badge():
    return badges.issue(make_user("ann@example.com"))


@pytest.fixture
def events():
    recorded = []
    with listening(recorded.append):
        yield recorded


def refuse(attempt):
    raise Refused("NOT_APPROVED", f"No {attempt.method}.")


def log_in(badge):
    # Packages that listen to Django's signals, such as django-axes, read the request.
    return badges.log_in(badge, Client(http=RequestFactory().post("/badge")))


def described(events):
    return [(event.action, event.metadata.get("reason")) for event in events]


def refused(badge, error, events):
    with pytest.raises(error):
        log_in(badge)
    assert not Session.objects.exists()
    return described(events)


def test_login_has_a_session_an_entry_and_a_time(badge, events):
    outcome = log_in(badge)

    session = Session.objects.get()
    assert (session.method, session.amr) == ("badge", "hwk")
    assert outcome.tokens
    assert outcome.device_token.reveal()
    assert described(events) == [("auth.login.success", None)]
    assert the_user().last_login is not None


def test_badge_works_once(badge, events):
    log_in(badge)

    with pytest.raises(errors.InvalidLink):
        log_in(badge)

    assert Session.objects.count() == 1


def test_user_suspended_since_they_were_read_is_refused(events):
    person = lookup.get_person(make_user("ann@example.com"))
    deactivate()

    with pytest.raises(errors.UserNotActive):
        login.enter(person, Client(), method="badge", proofs=("hwk",), change=lambda now: now)

    assert not Session.objects.exists()
    assert described(events) == [("auth.login.failed", "user_not_active")]


def test_unproven_address_is_refused(badge, events, configure):
    configure(CORE={"REQUIRE_EMAIL_VERIFICATION": True})

    assert refused(badge, errors.EmailNotVerified, events) == [
        ("auth.login.failed", "email_not_verified")
    ]


def test_hook_refuses_and_the_badge_is_used_up(badge, events, configure):
    configure(CORE={"LOGIN_HOOK": f"{__name__}.refuse"})

    assert refused(badge, Refused, events) == [("auth.login.failed", "not_approved")]
    assert OneTimeToken.objects.get(purpose="badge").spent_at is not None


def test_deleted_user_is_refused(badge, events):
    the_user().delete()

    assert refused(badge, errors.InvalidLink, events) == []


def test_user_with_a_second_factor_is_asked_for_it(api, clock):
    ann = Person(api, "ann@example.com").sign_up().enrol()
    clock.forward(seconds=30)
    badge = badges.issue(the_user())
    before = Session.objects.count()

    outcome = log_in(badge)

    assert outcome.tokens is None
    assert Session.objects.count() == before
    [challenge] = outcome.challenges
    answer = ann.verify_login(ann.code(), challenge.data["temp_token"])
    assert answer.status == 200
    assert Session.objects.latest("created_at").amr.split()[0] == "hwk"
