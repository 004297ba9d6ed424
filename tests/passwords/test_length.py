"""`MinimumLengthWithoutFactor`: 15 characters where the password is all that is asked."""

import re

import pytest
from django.core.exceptions import ValidationError

from authservice.core.credentials import password_rules
from authservice.core.errors import InvalidPassword
from authservice.core.users import lookup
from authservice.kernel.secret import Secret
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


DJANGO = {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator"}
OURS = {"NAME": "authservice.validators.MinimumLengthWithoutFactor"}
NUMERIC = {"NAME": "django.contrib.auth.password_validation.NumericPasswordValidator"}


def of_length(validator, length):
    return {**validator, "OPTIONS": {"min_length": length}}


def lengths(texts):
    return re.findall(r"(\d+) characters", " ".join(texts))


def texts_of_rules(user=None):
    return [rule.text for rule in password_rules.rules_for(user)]


@pytest.fixture(params=["djangos first", "ours first"])
def validate_both(request, settings):
    """`validate_both(10, 15)` sets the minimum lengths of Django's validator and of ours."""

    def validate(django, ours):
        both = [of_length(DJANGO, django), NUMERIC, of_length(OURS, ours)]
        settings.AUTH_PASSWORD_VALIDATORS = both if request.param == "djangos first" else both[::-1]

    return validate


@pytest.mark.parametrize(
    ("django", "ours", "typed", "longest"),
    [
        (10, 15, "4242", "15"),
        (10, 15, "424242424", "15"),
        (10, 15, "42424242424", "15"),
        (20, 15, "4242", "20"),
        (20, 15, "4242424242", "20"),
        (15, 15, "4242424242", "15"),
        (4, 6, "42", "8"),
    ],
)
def test_only_the_longest_of_both_validators_is_reported(
    api, validate_both, django, ours, typed, longest
):
    validate_both(django, ours)

    message = api.post("signup", email=ANN, password=typed).data["message"]

    assert lengths([message]) == [longest]
    assert "entirely numeric" in message


def test_too_short_without_a_known_length_is_reported_too(settings):
    settings.AUTH_PASSWORD_VALIDATORS = [DJANGO, {"NAME": f"{__name__}.AtLeastThreeWords"}]

    with pytest.raises(InvalidPassword) as refused:
        password_rules.require_strong(Secret("plum"), None)

    texts = refused.value.texts["password"]
    assert texts == ["Must have at least 8 characters.", "Must have three words."]


class AtLeastThreeWords:
    def validate(self, password, user=None):
        raise ValidationError("Must have three words.", code="password_too_short")


@pytest.mark.parametrize(
    ("django", "ours", "longest"), [(10, 15, "15"), (20, 15, "20"), (15, 15, "15"), (4, 6, "8")]
)
def test_rules_beside_the_field_name_the_longest_only(validate_both, django, ours, longest):
    validate_both(django, ours)

    assert lengths(texts_of_rules()) == [longest]
    assert "digits only" in " ".join(texts_of_rules())


def test_rules_of_a_user_with_a_factor_name_the_length_that_applies(api, validate_both, clock):
    validate_both(10, 15)
    Person(api).sign_up().enrol()

    assert lengths(texts_of_rules(the_user())) == ["10"]


def test_rules_name_no_length_of_ours_where_everybody_needs_a_factor(validate, configure):
    validate("MinimumLengthWithoutFactor")
    configure(TWOFACTOR={"REQUIRED": "everybody"})

    assert texts_of_rules() == ["Must have at least 8 characters."]


def test_rules_beside_the_field_name_the_length(validate):
    validate("MinimumLengthWithoutFactor", min_length=12)

    (rule,) = password_rules.rules_for()
    assert rule == ("Must have at least 12 characters without a second factor.", "^.{12,}")
