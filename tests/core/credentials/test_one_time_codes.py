"""A one-time token that must be sent with a code: how it is found, counted and ended."""

from datetime import timedelta

import pytest
from django.db import connections
from django.test.utils import CaptureQueriesContext

from authservice.core import errors
from authservice.core.credentials import one_time
from authservice.core.users import lookup
from authservice.kernel import databases
from authservice.kernel.errors import TooManyAttempts
from tests.support.people import change, deactivate, make_user, the_user

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


def test_one_time_token_is_found_with_user_and_extra_values_in_one_statement(ann):
    token = one_time.issue_link(LOOSE, ann, payload={"method": "test"})

    with CaptureQueriesContext(connections[databases.primary()]) as captured:
        person, row, values = one_time.find_open(LOOSE, token, "user__email", "purpose")

    assert (person.id, row.payload, values) == (
        ann.id,
        {"method": "test"},
        ("ann@example.com", "loose"),
    )
    assert len(captured) == 1


def test_one_time_token_is_found_for_its_own_purpose_only(ann):
    assert found(BOUND, one_time.issue_link(LOOSE, ann)) is None


def test_one_time_token_without_an_address_stays_valid_after_a_changed_address(ann):
    loose = one_time.issue_link(LOOSE, ann)
    bound = one_time.issue_link(BOUND, ann, ann.email_key)

    change(email="bob@example.com")

    assert found(LOOSE, loose)
    assert found(BOUND, bound) is None


@pytest.mark.parametrize("harm", [deactivate, lambda: change(password="another")])
def test_one_time_token_ends_with_its_user_or_the_password(ann, harm):
    token = one_time.issue_link(LOOSE, ann)

    harm()

    assert found(LOOSE, token) is None


def test_one_time_token_ends_at_its_expiry(ann, clock):
    token = one_time.issue_link(LOOSE, ann)

    clock.forward(minutes=5)

    assert found(LOOSE, token) is None


def test_one_time_token_that_was_consumed_is_not_found(ann):
    token = one_time.issue_link(LOOSE, ann)

    assert one_time.consume(found(LOOSE, token)[1])
    assert found(LOOSE, token) is None


def test_one_time_token_allows_five_attempts_and_then_has_retry_after(ann, clock):
    row = found(LOOSE, one_time.issue_link(LOOSE, ann))[1]
    for _ in range(one_time.TRIES):
        one_time.count_challenge_attempt(row)

    with pytest.raises(TooManyAttempts) as refused:
        one_time.count_challenge_attempt(row)

    assert refused.value.headers["Retry-After"] == "300"


def test_one_time_token_consumed_meanwhile_allows_no_attempt(ann):
    row = found(LOOSE, one_time.issue_link(LOOSE, ann))[1]
    one_time.consume(row)

    with pytest.raises(errors.InvalidLink):
        one_time.count_challenge_attempt(row)


def test_one_time_token_stays_valid_after_a_rotated_secret_key(ann, settings):
    token = one_time.issue_link(LOOSE, ann)
    settings.SECRET_KEY_FALLBACKS = [settings.SECRET_KEY]
    settings.SECRET_KEY = "another secret of the tests, long enough to be a key"

    person, _, _ = found(LOOSE, token)

    assert person.user == the_user()
