"""Login names that are no free text: numbers, UUIDs, choices and phone numbers."""

import pytest
from django.contrib.auth import get_user_model
from django.core.checks import run_checks
from django.core.management import CommandError, call_command

from tests.support.client import PASSWORD
from tests.support.people import has
from tests.user_models.inside.users import NAME, NATURAL, log_in, make_user

pytestmark = pytest.mark.django_db

ODD = (
    *("nobody", "+49 30 1", "9" * 23, "-" + "9" * 200, "\u0663", "1e9", "0x1", "1.0", "04711"),
    *(
        "6F9619FF8B86D011B42D00C04FC964FF",
        "{6f9619ff}",
        "NaN",
        "Infinity",
        "None",
        "a" * 254,
        "é",
        "\U0001f600",
    ),
)
# Values that a new user of the field may have, or not.
NEW = {
    "number": (("12", "-5", "2147483647"), ("ann", "9223372036854775808", "012", "1.5")),
    "code": (("0f9619ff-8b86-d011-b42d-00c04fc964ff",), ("ann", "4711", "0f9619ff8b86d011")),
    "phone": (("+919876543211", "9876543211"), ("ann", "+1", "+49 30 123456", "+" + "9" * 17)),
    "rank": (("chief",), ("ann", "Chief")),
}[NATURAL]


@pytest.fixture(autouse=True)
def _no_floods(configure):
    configure(THROTTLE={"ENABLED": False})


@pytest.mark.parametrize("name", ODD)
def test_login_with_a_name_that_the_field_cannot_hold_is_refused(api, name):
    make_user()

    assert log_in(api, name).error in {(401, "INVALID_CREDENTIALS"), (400, "VALIDATION_ERROR")}


@pytest.mark.parametrize("name", ODD)
@pytest.mark.usefixtures("_other_backend")
def test_backend_of_the_project_is_not_asked_for_it(api, name):
    assert log_in(api, name).error in {(401, "INVALID_CREDENTIALS"), (400, "VALIDATION_ERROR")}


@pytest.fixture
def _other_backend(settings):
    settings.AUTHENTICATION_BACKENDS = ["django.contrib.auth.backends.AllowAllUsersModelBackend"]


def test_user_logs_in_with_the_name_as_stored(api):
    make_user()

    assert log_in(api).data["user"]["username"] == NAME


def test_user_created_in_bulk_logs_in(api):
    user = get_user_model()(**{NATURAL: NAME})
    user.set_password(PASSWORD)
    get_user_model().objects.bulk_create([user])

    assert log_in(api).status == 200


@pytest.mark.parametrize("name", [*ODD, *NEW[1]])
def test_availability_of_an_odd_name_is_no_crash(api, name):
    answer = api.post("is-available", username=name)

    assert answer.status in (200, 400), answer.body


@pytest.mark.parametrize("name", NEW[0])
def test_new_user_signs_up_with_a_name_of_the_field(api, name):
    answer = api.post("signup", username=name, password=PASSWORD)

    assert answer.status == 201, answer.body
    assert answer.data["user"]["username"] == name
    assert log_in(api, name).status == 200
    again = api.post("signup", username=name, password=PASSWORD)
    assert again.code == "USERNAME_ALREADY_EXISTS"


@pytest.mark.parametrize("name", NEW[1])
def test_new_user_does_not_sign_up_with_another_name(api, name):
    answer = api.post("signup", username=name, email="ann@example.com", password=PASSWORD)

    assert answer.error == (400, "VALIDATION_ERROR")
    assert answer.data["message"].startswith("username: ")


def test_no_name_is_made_up(api):
    answer = api.post("signup", email="ann@example.com", password=PASSWORD)

    assert answer.error == (400, "VALIDATION_ERROR")
    assert answer.data["message"] == "username: This field is required."
    assert not get_user_model().objects.exists()


def test_user_changes_the_name(api):
    if len(NEW[0]) < 2:
        return  # the field has no second value
    signed_up = api.post("signup", username=NEW[0][0], password=PASSWORD).data
    token = signed_up["access_token"]

    def change(name):
        body = {"username": name, "password": PASSWORD}
        return api.request("PUT", "change-username", body, token=token)

    assert change(NEW[1][0]).error == (400, "VALIDATION_ERROR")
    assert change(NEW[0][1]).data["username"] == NEW[0][1]
    assert log_in(api, NEW[0][1]).status == 200


def test_command_finds_no_user_of_an_odd_name():
    for name in ODD:
        with pytest.raises(CommandError, match="There is no user"):
            call_command("authservice_revoke", user=name)


def test_check_says_that_no_name_is_made_up():
    messages = [found.msg for found in run_checks(databases=[]) if found.id == "authservice.I084"]

    assert f".{NATURAL} is no free text" in messages[0]


def test_wrong_password_of_the_owner_is_refused(api):
    make_user()
    token = log_in(api).data["access_token"]

    def change(old):
        body = {"old_password": old, "new_password": "fig biscuit 17 lanterns"}
        return api.request("PUT", "change-password", body, token=token)

    assert change("wrong").error == (401, "INVALID_CREDENTIALS")
    assert change(PASSWORD).status == 200
    assert has(NATURAL)
