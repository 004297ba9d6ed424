"""`MinimumLengthWithoutFactor`: 15 characters where the password is all that is asked."""

import pytest
from django.core.exceptions import ValidationError

from authservice.core.credentials import passwords
from authservice.core.users import lookup
from authservice.validators import MinimumLengthWithoutFactor
from tests.support.flows import ANN
from tests.support.people import make_user, the_user, unsaved
from tests.twofactor.people import Person

pytestmark = pytest.mark.django_db

SHORT, LONG = "plum tart 4242", "plum tart 42424"


@pytest.fixture(autouse=True)
def _validated(validate):
    validate("MinimumLengthWithoutFactor")


def accepts(password, user):
    try:
        MinimumLengthWithoutFactor().validate(password, user)
    except ValidationError as error:
        return error.code != "password_too_short"
    return True


def test_fifteen_characters_are_required_at_sign_up(api):
    answer = api.post("signup", email=ANN, password=SHORT)

    assert answer.error == (400, "INVALID_PASSWORD")
    assert answer.data["message"] == (
        "password: Must have at least 15 characters without a second factor."
    )
    assert api.post("signup", email=ANN, password=LONG).status == 201


def test_longest_minimum_is_the_only_one_reported(api):
    message = api.post("signup", email=ANN, password="plum").data["message"]

    assert message == "password: Must have at least 15 characters without a second factor."


def test_eight_characters_are_enough_where_everybody_needs_a_factor(api, configure):
    configure(TWOFACTOR={"REQUIRED": "everybody"})

    answer = api.post("signup", email=ANN, password="plumTrt9")

    assert answer.data["status"] == "challenge"


@pytest.mark.parametrize("user", [None, object(), unsaved])
def test_fifteen_characters_are_required_without_a_stored_user(user):
    user = user() if user is unsaved else user

    assert not accepts(SHORT, user)
    assert accepts(LONG, user)


def test_user_with_a_factor_needs_no_fifteen_characters(api, validate, clock):
    validate()
    person = Person(api).sign_up()
    assert not accepts(SHORT, the_user())

    person.enrol()

    assert accepts(SHORT, the_user())


def test_super_admin_who_needs_a_factor_needs_no_fifteen_characters(configure):
    configure(TWOFACTOR={"REQUIRED": "super_admins"})
    user = make_user()
    assert not accepts(SHORT, user)

    account = lookup.get_person(user).account
    account.is_super_admin = True
    account.save()

    assert accepts(SHORT, user)


def test_long_password_costs_no_query(django_assert_num_queries):
    user = make_user()

    with django_assert_num_queries(0):
        assert accepts(LONG, user)


def test_rules_beside_the_field_name_the_length(validate):
    validate("MinimumLengthWithoutFactor", min_length=12)

    *_, rule = passwords.rules()
    assert rule == ("Must have at least 12 characters without a second factor.", "^.{12,}")
