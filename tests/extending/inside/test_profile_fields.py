"""Extra fields of `PUT /profile`."""

import datetime

import pytest
from django.core.exceptions import ValidationError
from django.db import IntegrityError, connection

from authservice.core.models import Account
from tests.extending.people.models import Profile, User
from tests.support.slots import listening
from tests.support.statements import statements

pytestmark = pytest.mark.django_db


@pytest.fixture
def ann(api, documented, sign_up):
    """The access token of Ann, who signed up with the documented fields."""
    documented(0)
    return sign_up().data["access_token"]


@pytest.fixture
def put(api, ann):
    def put(**body):
        return api.request("PUT", "profile", body, token=ann)

    return put


def test_profile_change_of_an_extra_field_stores_and_shows_it(put):
    answer = put(full_name="Ann Hill")

    assert (answer.status, answer.data["full_name"]) == (200, "Ann Hill")
    assert User.objects.get().full_name == "Ann Hill"
    assert Account.objects.get().updated_at


def test_profile_change_leaves_fields_that_are_not_sent(put):
    put(name="Annabel")

    user = User.objects.get()
    assert (user.full_name, user.born) == ("Ann Lee", datetime.date(1990, 2, 3))


def test_profile_change_updates_only_the_changed_columns(put):
    texts = statements(lambda: put(full_name="Ann Hill"))

    table = connection.ops.quote_name("people_user")
    (update,) = [text for text in texts if text.startswith(f"UPDATE {table}")]
    assert update.count(" = ") == 2  # the column, and the key


def test_profile_change_to_the_same_value_writes_nothing(put):
    texts = statements(lambda: put(full_name="Ann Lee"))

    assert not [text for text in texts if text.startswith("UPDATE")]
    assert Account.objects.get().updated_at is None


def test_profile_change_ignores_fields_that_its_serializer_does_not_have(put):
    put(born="2000-01-01", is_staff=True, email="eve@example.com", badge="A1")

    user = User.objects.get()
    assert (user.born.year, user.is_staff, user.badge) == (1990, False, None)
    assert user.email == "ann@example.com"


def test_profile_change_with_an_invalid_extra_field_changes_nothing(put):
    answer = put(name="Annabel", full_name="x" * 81)

    assert answer.error == (400, "VALIDATION_ERROR")
    assert answer.data["message"].startswith("full_name: ")
    assert Account.objects.get().name == ""


def test_profile_change_records_the_names_of_extra_fields_only(put):
    events = []

    with listening(events.append):
        put(full_name="Ann Hill", name="Annabel")

    (event,) = events
    assert event.action == "user.profile.updated"
    assert event.metadata["further_fields"] == ["full_name"]
    assert "Hill" not in str(event.metadata)


def test_profile_change_of_a_field_stored_elsewhere(put, documented):
    documented(1)

    for city in ("Rome", "Oslo"):
        assert put(city=city).data["city"] == city

    assert Profile.objects.get().city == "Oslo"


def test_profile_change_with_a_taken_unique_value_names_the_field(put, use):
    User.objects.create(email="eve@example.com", full_name="Eve", badge="A1")
    use("Badge")

    answer = put(badge="A1")

    assert answer.error == (400, "VALIDATION_ERROR")
    assert answer.data["message"].startswith("badge: ")


@pytest.mark.django_db(transaction=True)
def test_profile_change_whose_serializer_fails_changes_nothing(put, use):
    use("Broken")

    answer = put(name="Annabel", how="invalid", full_name="Ann Hill")

    assert answer.error == (400, "VALIDATION_ERROR")
    assert answer.data["message"] == "how: Not like this."
    assert (User.objects.get().full_name, Account.objects.get().name) == ("Ann Lee", "")
    assert not Profile.objects.exists()


def test_profile_change_of_rights_by_a_serializer_is_refused(put, use, api):
    use("Elevating")
    api.raising = False

    assert put(full_name="Ann Hill").error == (500, "INTERNAL_ERROR")
    assert not User.objects.get().is_staff


@pytest.mark.parametrize(
    ("refusal", "error", "text"),
    [
        (IntegrityError("a column"), (409, "CONFLICT"), "already exists"),
        (ValidationError({"full_name": ["No digits."]}), (400, "VALIDATION_ERROR"), "No digits."),
        (ValidationError({"other": ["A secret rule."]}), (400, "VALIDATION_ERROR"), "not valid"),
    ],
)
def test_profile_change_that_the_model_refuses_is_a_clear_error(
    put, monkeypatch, refusal, error, text
):
    def save(self, *_, **__):
        raise refusal

    monkeypatch.setattr(User, "save", save)

    answer = put(full_name="Ann Hill")

    assert answer.error == error
    assert text in answer.data["message"]
    assert User.objects.get().full_name == "Ann Lee"
