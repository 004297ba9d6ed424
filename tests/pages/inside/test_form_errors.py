"""A refused form names all that is wrong with it, each text beside its field."""

import re

import pytest
from django.contrib.auth.signals import user_logged_in

from authservice.core.models import Account
from authservice.kernel.hooks import Refused
from tests.pages.inside.person import Person
from tests.support.client import PASSWORD
from tests.support.flows import ANN
from tests.twofactor import people

pytestmark = pytest.mark.django_db

WEAK = "12345678"
REQUIRED = "This field is required."
TAKEN = "An account with this email already exists."


def sign_up(person, **typed):
    return person.send(person.open("/auth/signup"), **{"password": PASSWORD, **typed})


def test_all_errors_of_a_sign_up_are_shown_at_once(person):
    page = sign_up(person, name="x" * 300, email="ann@", password=WEAK)

    assert (page.status, set(page.errors)) == (400, {"name", "email", "password"})
    assert (
        page.errors["password"] == "This password is too common. This password is entirely numeric."
    )
    assert page.alert == "Please correct the marked fields."
    assert 'value="ann@"' in page.html
    assert WEAK not in page.html


def test_errors_of_fields_of_the_project_are_shown_with_the_others(person, configure):
    configure(CORE={"SIGNUP_SERIALIZER": "tests.pages.inside.serializers.Extra"})

    page = sign_up(person, email="ann@", password=WEAK, size="", birthday="yesterday")

    assert set(page.errors) == {"email", "password", "size", "birthday"}


@pytest.mark.parametrize(
    "typed",
    [
        {"email": ANN},
        {"email": "ann@"},
        {"email": ""},
        {"email": ANN, "password": ""},
        {"email": ANN, "password": WEAK},
    ],
)
@pytest.mark.parametrize(
    "own",
    [
        {},
        {"size": ""},
        {"size": "", "birthday": ""},
        {"size": "s", "birthday": ""},
        {"size": "s", "birthday": "yesterday"},
        {"size": "s", "birthday": "2000-01-01", "shoes": "x"},
    ],
)
def test_top_of_the_page_refers_to_several_marked_fields(typed, own, person, configure):
    """One marked field has the focus, and says itself what is wrong."""
    configure(CORE={"SIGNUP_SERIALIZER": "tests.pages.inside.serializers.Extra"})

    page = sign_up(person, **typed, **own)

    assert page.errors
    assert page.alert == ("Please correct the marked fields." if len(page.errors) > 1 else "")
    assert page.html.count("autofocus") >= len(page.errors)


def test_error_of_the_project_that_belongs_to_no_field_is_at_the_top(person, configure):
    configure(CORE={"SIGNUP_SERIALIZER": "tests.pages.inside.serializers.Closed"})

    page = sign_up(person, email=ANN, size="")
    assert (set(page.errors), page.alert) == ({"size"}, "")

    page = sign_up(person, email=ANN, size="s")
    assert (page.errors, page.alert) == ({}, "No more orders today.")


def test_taken_address_is_shown_beside_a_weak_password(person, ann):
    page = sign_up(person, email=ANN, password=WEAK)

    assert set(page.errors) == {"email", "password"}
    assert page.errors["email"] == TAKEN


def test_taken_address_and_username_are_shown_together(person, ann, configure):
    configure(PAGES={"SIGNUP_FIELDS": ["username"]})

    assert set(sign_up(person, email=ANN, username="ann").errors) == {"email", "username"}


def test_taken_address_is_not_shown_if_the_sign_up_hides_it(person, ann, configure):
    configure(CORE={"SIGNUP_ENUMERATION": "hide", "REQUIRE_EMAIL_VERIFICATION": True})

    assert set(sign_up(person, email=ANN, password=WEAK).errors) == {"password"}


def test_taken_addresses_are_asked_for_within_the_limit_of_the_api(person, ann, configure):
    configure(THROTTLE={"RATES": {"is-available": "1/d"}})
    shown = [set(sign_up(person, email=ANN, password=WEAK).errors) for _ in range(2)]

    assert shown == [{"email", "password"}, {"password"}]


def test_password_that_resembles_the_address_is_refused_with_the_other_fields(person):
    page = sign_up(person, name="x" * 300, email="annabel@example.com", password="annabel@example")

    assert "similar" in page.errors["password"]


def test_refused_sign_up_creates_nothing(person):
    sign_up(person, name="x" * 300, email=ANN)

    assert not Account.objects.exists()


def refuse(attempt):
    raise Refused("NOT_APPROVED", "Your account is waiting for approval.")


def test_sign_up_whose_login_a_hook_refuses_says_that_the_account_exists(person, configure):
    configure(CORE={"LOGIN_HOOK": f"{__name__}.refuse"})

    page = sign_up(person, email=ANN)

    assert Account.objects.exists()
    assert (page.status, page.heading) == (403, "Your account was created")
    assert "Your account is waiting for approval." in page.text
    assert "<form" not in page.html
    assert page.link("Back to sign in") == "/auth/login"


REFUSAL = Refused("NOT_APPROVED", "Your account is waiting for approval.")


def refuse_by_one_object(attempt):
    raise REFUSAL


def test_object_that_the_project_raises_in_both_hooks_is_two_refusals(person, configure):
    hook = f"{__name__}.refuse_by_one_object"
    configure(CORE={"LOGIN_HOOK": hook})
    assert sign_up(person, email=ANN).heading == "Your account was created"
    configure(CORE={"SIGNUP_HOOK": hook})

    page = sign_up(Person(), email="bob@example.com")

    assert Account.objects.count() == 1
    assert page.alert == "Your account is waiting for approval."


def test_refusal_that_rolls_the_sign_up_back_shows_its_form_again(person):
    def receive(**_):
        raise REFUSAL

    user_logged_in.connect(receive)
    try:
        page = sign_up(person, email=ANN)
    finally:
        user_logged_in.disconnect(receive)

    assert not Account.objects.exists()
    assert page.alert == "Your account is waiting for approval."


def test_sign_up_that_a_hook_refuses_shows_its_form_again(person, configure):
    configure(CORE={"SIGNUP_HOOK": f"{__name__}.refuse"})

    page = sign_up(person, email=ANN)

    assert not Account.objects.exists()
    assert page.alert == "Your account is waiting for approval."


@pytest.mark.parametrize(
    ("path", "fields"),
    [
        ("login", {"identifier", "password"}),
        ("signup", {"email", "password"}),
        ("forgot-password", {"email"}),
        ("magic-link/send", {"email"}),
        ("send-verification-email", {"email"}),
    ],
)
def test_empty_fields_are_named_beside_them(path, fields, person):
    page = person.open(f"/auth/{path}")

    page = person.send(page, **dict.fromkeys(fields, ""))

    assert (page.status, page.errors) == (400, dict.fromkeys(fields, REQUIRED))
    assert page.alert == ("Please correct the marked fields." if len(fields) > 1 else "")


@pytest.mark.parametrize("field", ["identifier", "password"])
def test_login_with_one_empty_field_names_that_field(field, person, ann):
    typed = {"identifier": ANN, "password": PASSWORD, field: ""}

    page = person.send(person.open("/auth/login"), **typed)

    assert page.errors == {field: REQUIRED}


def test_login_with_a_name_that_nobody_can_have_names_the_field(person):
    page = person.sign_in("x" * 300, PASSWORD)

    assert (page.status, list(page.errors)) == (400, ["identifier"])


def test_empty_code_of_a_second_factor_is_named_beside_it(person, ann, api):
    people.Person(api, token=ann["access_token"], user_id=ann["user"]["id"]).enrol()

    page = person.send(person.sign_in(ANN, PASSWORD), code="")

    assert page.errors == {"code": REQUIRED}


def test_empty_mailed_code_is_named_beside_it(person, ann):
    page = person.send(person.open("/auth/magic-link/send"), email=ANN)

    page = person.send(page, 0, code="")

    assert page.errors == {"code": REQUIRED}
    assert re.search("<title>Error: ", page.html)


def test_empty_password_is_named_beside_it_where_a_proof_is_asked(signed_in):
    page = signed_in.send(signed_in.open("/auth/confirm"), password="")

    assert page.errors == {"password": REQUIRED}


@pytest.mark.parametrize("old", ["wrong", ""])
def test_weak_new_password_is_shown_beside_a_wrong_current_one(old, signed_in):
    page = signed_in.open("/auth/account/security/password")

    page = signed_in.send(page, old_password=old, new_password=WEAK)

    assert set(page.errors) == {"old_password", "new_password"}


def test_refusal_that_is_about_no_field_names_none(person, ann):
    for _ in range(10):
        person.sign_in(ANN, "wrong")

    assert person.sign_in(ANN, "").errors == {"password": REQUIRED}
    page = person.sign_in(ANN, PASSWORD)
    assert (page.status, page.errors) == (429, {})
