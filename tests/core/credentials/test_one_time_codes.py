"""A ticket that a code must come with: how it is found, tried and ended."""

from datetime import timedelta

import pytest
from django.db import connections
from django.test.utils import CaptureQueriesContext

from authservice.core.credentials import one_time, temp_tokens
from authservice.core.users import lookup
from authservice.kernel import databases, errors
from tests.people import change, deactivate, make_user, the_user

pytestmark = pytest.mark.django_db
LOOSE = one_time.Purpose("loose", link_ttl=timedelta(minutes=5), addressed=False)
BOUND = one_time.Purpose("bound", link_ttl=timedelta(minutes=5))


@pytest.fixture
def ann():
    return lookup.get_person(make_user())


def found(purpose, token):
    try:
        return one_time.find_open(purpose, token)
    except errors.InvalidLink:
        return None


def test_it_comes_with_its_person_and_what_was_asked_for_in_one_statement(ann):
    token = one_time.issue_link(LOOSE, ann, payload={"method": "test"})

    with CaptureQueriesContext(connections[databases.primary()]) as captured:
        person, ticket, beside = one_time.find_open(LOOSE, token, "user__email", "purpose")

    assert (person.id, ticket.payload, beside) == (
        ann.id,
        {"method": "test"},
        ("ann@example.com", "loose"),
    )
    assert len(captured) == 1


def test_it_is_found_for_its_own_purpose_alone(ann):
    assert found(BOUND, one_time.issue_link(LOOSE, ann)) is None


def test_one_that_is_not_addressed_outlives_a_change_of_address(ann):
    loose = one_time.issue_link(LOOSE, ann)
    bound = one_time.issue_link(BOUND, ann, ann.email_key)

    change(email="bob@example.com")

    assert found(LOOSE, loose)
    assert found(BOUND, bound) is None


@pytest.mark.parametrize("harm", [deactivate, lambda: change(password="another")])
def test_it_ends_with_its_person_and_the_password(ann, harm):
    token = one_time.issue_link(LOOSE, ann)

    harm()

    assert found(LOOSE, token) is None


def test_it_ends_with_its_time(ann, clock):
    token = one_time.issue_link(LOOSE, ann)

    clock.forward(minutes=5)

    assert found(LOOSE, token) is None


def test_a_spent_one_is_not_found(ann):
    token = one_time.issue_link(LOOSE, ann)

    assert one_time.consume(found(LOOSE, token)[1])
    assert found(LOOSE, token) is None


def test_it_takes_five_tries_and_then_says_how_long_to_wait(ann, clock):
    ticket = found(LOOSE, one_time.issue_link(LOOSE, ann))[1]
    for _ in range(temp_tokens.TRIES):
        temp_tokens.count_attempt(ticket)

    with pytest.raises(errors.TooManyAttempts) as refused:
        temp_tokens.count_attempt(ticket)

    assert refused.value.headers["Retry-After"] == "301"


def test_one_that_was_spent_meanwhile_takes_no_try(ann):
    ticket = found(LOOSE, one_time.issue_link(LOOSE, ann))[1]
    one_time.consume(ticket)

    with pytest.raises(errors.InvalidLink):
        temp_tokens.count_attempt(ticket)


def test_it_outlives_the_secret_key_it_was_made_under(ann, settings):
    token = one_time.issue_link(LOOSE, ann)
    settings.SECRET_KEY_FALLBACKS = [settings.SECRET_KEY]
    settings.SECRET_KEY = "another secret of the tests, long enough to be a key"

    person, _, _ = found(LOOSE, token)

    assert person.user == the_user()
