"""Enabling what was set up, by a code of it."""

import pytest
from django.contrib.auth.signals import user_logged_in

from authservice.twofactor.models import Authenticator
from tests.twofactor.people import ANN, Person

pytestmark = pytest.mark.django_db
INVALID = (400, "TWO_FACTOR_INVALID")


def test_a_code_of_the_app_enables_it(ann):
    ann.set_up()

    answer = ann.post("2fa/verify", code=ann.code())

    assert answer.status == 200
    assert set(answer.data) == {"message"}
    assert ann.get("2fa/status").data["enabled"] is True


@pytest.mark.parametrize("ahead", [-1, 1])
def test_so_does_the_code_before_and_after(ann, ahead):
    ann.set_up()

    assert ann.post("2fa/verify", code=ann.code(ahead)).status == 200


@pytest.mark.parametrize("ahead", [-2, 2])
def test_a_code_further_off_does_not(ann, ahead):
    ann.set_up()

    assert ann.post("2fa/verify", code=ann.code(ahead)).error == INVALID


def test_a_wrong_code_does_not(ann):
    ann.set_up()

    assert ann.post("2fa/verify", code=ann.wrong_code()).error == INVALID
    assert ann.get("2fa/status").data["enabled"] is False


@pytest.mark.parametrize("spell", [" {}", "{} ", "+{}", "0{}", "{}0", "-{}", "{}.0", "0x{}"])
def test_no_other_spelling_of_a_code_does(ann, spell):
    ann.set_up()

    assert ann.post("2fa/verify", code=spell.format(ann.code())).error == INVALID


@pytest.mark.parametrize("zero", [0x0660, 0x0966, 0xFF10, 0x1D7CE])
def test_digits_of_other_scripts_do_not(ann, zero):
    ann.set_up()
    code = "".join(chr(zero + int(digit)) for digit in ann.code())

    assert ann.post("2fa/verify", code=code).error == INVALID


def test_a_backup_code_does_not(ann):
    ann.set_up()

    assert ann.post("2fa/verify", code=ann.backup_codes[0]).error == INVALID


@pytest.mark.parametrize("code", [None, 123456, True, [], "", "1" * 65, "12\x003456"])
def test_what_is_no_text_is_no_valid_request(ann, code):
    ann.set_up()

    assert ann.post("2fa/verify", code=code).error == (400, "VALIDATION_ERROR")


def test_before_a_setup_there_is_nothing_to_enable(ann):
    assert ann.post("2fa/verify", code="123456").error == (400, "TWO_FACTOR_NOT_ENABLED")


def test_it_is_enabled_once(enrolled):
    answer = enrolled.post("2fa/verify", code=enrolled.code())

    assert answer.error == (400, "TWO_FACTOR_ALREADY_ENABLED")


@pytest.mark.parametrize("route", ["2fa/disable", "2fa/backup-codes"])
def test_the_code_that_enabled_it_is_used(ann, route):
    ann.set_up()
    code = ann.code()
    ann.post("2fa/verify", code=code)

    assert ann.post(route, code=code).error == INVALID


def test_it_lets_nobody_in_either(ann):
    ann.enrol()

    assert ann.verify_login(ann.code()).error == (401, "TWO_FACTOR_INVALID")


def test_every_other_sign_in_ends(api, ann):
    other = api.log_in(ANN)

    ann.enrol()

    assert ann.get("me").status == 200
    assert api.get("me", token=other["access_token"]).error == (401, "INVALID_TOKEN")
    assert api.post("refresh", refresh_token=other["refresh_token"]).status == 401


@pytest.fixture
def entering(ann):
    """`entering()` connects a receiver: the next login enables Ann's factor after its checks."""
    connected = []

    def enable(**_):
        user_logged_in.disconnect(enable)
        assert ann.post("2fa/verify", code=ann.code()).status == 200

    def connect():
        ann.set_up()
        user_logged_in.connect(enable)
        connected.append(enable)

    yield connect
    for receiver in connected:
        user_logged_in.disconnect(receiver)


def test_login_that_asked_for_no_code_before_it_is_enabled_gets_dead_tokens(api, ann, entering):
    entering()

    tokens = api.log_in(ANN)

    assert api.get("me", token=tokens["access_token"]).error == (401, "INVALID_TOKEN")
    assert api.post("refresh", refresh_token=tokens["refresh_token"]).status == 401
    assert ann.get("me").status == 200
    assert "challenges" in api.log_in(ANN)


def test_session_that_enables_it_goes_on_with_both_tokens(api):
    tokens = api.sign_up()
    ann = Person(api, token=tokens["access_token"], user_id=tokens["user"]["id"]).enrol()

    refreshed = api.post("refresh", refresh_token=tokens["refresh_token"])

    assert ann.get("me").status == 200
    assert api.get("me", token=refreshed.data["access_token"]).status == 200


def test_nobody_elses_sign_in_ends(api, ann):
    bob = Person(api, "bob@example.com").sign_up()

    ann.enrol()

    assert bob.get("me").status == 200


def test_a_secret_is_of_its_owner_alone(api, ann):
    """One that was copied to another's row opens nothing there."""
    bob = Person(api, "bob@example.com").sign_up()
    bob.set_up()
    ann.set_up()
    stolen = Authenticator.objects.get(user_id=bob.user_id).sealed_secret
    Authenticator.objects.filter(user_id=ann.user_id).update(sealed_secret=stolen)

    assert ann.post("2fa/verify", code=bob.code()).error == INVALID
