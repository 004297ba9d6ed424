"""Enabling a second factor that was set up, with one of its codes."""

import pytest
from django.contrib.auth.signals import user_logged_in

from authservice.twofactor.models import Authenticator
from tests.twofactor.people import ANN, Person

pytestmark = pytest.mark.django_db
INVALID = (400, "TWO_FACTOR_INVALID")


def test_code_of_the_app_enables_the_factor(ann):
    ann.set_up()

    answer = ann.post("2fa/verify", code=ann.code())

    assert answer.status == 200
    assert set(answer.data) == {"message"}
    assert ann.get("2fa/status").data["enabled"] is True


@pytest.mark.parametrize("ahead", [-1, 1])
def test_code_of_the_step_before_or_after_enables_the_factor(ann, ahead):
    ann.set_up()

    assert ann.post("2fa/verify", code=ann.code(ahead)).status == 200


@pytest.mark.parametrize("ahead", [-2, 2])
def test_code_of_a_more_distant_step_is_refused(ann, ahead):
    ann.set_up()

    assert ann.post("2fa/verify", code=ann.code(ahead)).error == INVALID


def test_wrong_code_is_refused(ann):
    ann.set_up()

    assert ann.post("2fa/verify", code=ann.wrong_code()).error == INVALID
    assert ann.get("2fa/status").data["enabled"] is False


@pytest.mark.parametrize("template", ["+{}", "0{}", "{}0", "{}.0", "0x{}"])
def test_code_with_other_characters_is_refused(ann, template):
    ann.set_up()

    assert ann.post("2fa/verify", code=template.format(ann.code())).error == INVALID


def test_backup_code_is_refused(ann):
    ann.set_up()

    assert ann.post("2fa/verify", code=ann.backup_codes[0]).error == INVALID


@pytest.mark.parametrize("code", [None, 123456, True, [], "", "1" * 65, "12\x003456"])
def test_code_that_is_no_text_is_a_validation_error(ann, code):
    ann.set_up()

    assert ann.post("2fa/verify", code=code).error == (400, "VALIDATION_ERROR")


def test_code_before_a_setup_is_refused(ann):
    assert ann.post("2fa/verify", code="123456").error == (400, "TWO_FACTOR_NOT_ENABLED")


def test_factor_is_enabled_once(enrolled):
    answer = enrolled.post("2fa/verify", code=enrolled.code())

    assert answer.error == (400, "TWO_FACTOR_ALREADY_ENABLED")


@pytest.mark.parametrize("route", ["2fa/disable", "2fa/backup-codes"])
def test_code_that_enabled_the_factor_is_refused_afterwards(ann, route):
    ann.set_up()
    code = ann.code()
    ann.post("2fa/verify", code=code)

    assert ann.post(route, code=code).error == INVALID


def test_code_that_enabled_the_factor_is_refused_at_login(ann):
    ann.enrol()

    assert ann.verify_login(ann.code()).error == (401, "TWO_FACTOR_INVALID")


def test_enabling_ends_every_other_session(api, ann):
    other = api.log_in(ANN)

    ann.enrol()

    assert ann.get("me").status == 200
    assert api.get("me", token=other["access_token"]).error == (401, "INVALID_TOKEN")
    assert api.post("refresh", refresh_token=other["refresh_token"]).status == 401


@pytest.fixture
def enabled_during_login(ann):
    """`enabled_during_login()` makes the next login enable Ann's factor after its checks."""
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


def test_login_without_a_code_beside_enabling_gets_invalid_tokens(api, ann, enabled_during_login):
    enabled_during_login()

    tokens = api.log_in(ANN)

    assert api.get("me", token=tokens["access_token"]).error == (401, "INVALID_TOKEN")
    assert api.post("refresh", refresh_token=tokens["refresh_token"]).status == 401
    assert ann.get("me").status == 200
    assert "challenges" in api.log_in(ANN)


def test_session_that_enables_the_factor_stays_valid_with_both_tokens(api):
    tokens = api.sign_up()
    ann = Person(api, token=tokens["access_token"], user_id=tokens["user"]["id"]).enrol()

    refreshed = api.post("refresh", refresh_token=tokens["refresh_token"])

    assert ann.get("me").status == 200
    assert api.get("me", token=refreshed.data["access_token"]).status == 200


def test_enabling_ends_no_session_of_another_user(api, ann):
    bob = Person(api, "bob@example.com").sign_up()

    ann.enrol()

    assert bob.get("me").status == 200


def test_secret_is_bound_to_its_owner(api, ann):
    """A secret that is copied to the row of another user is useless there."""
    bob = Person(api, "bob@example.com").sign_up()
    bob.set_up()
    ann.set_up()
    stolen = Authenticator.objects.get(user_id=bob.user_id).sealed_secret
    Authenticator.objects.filter(user_id=ann.user_id).update(sealed_secret=stolen)

    assert ann.post("2fa/verify", code=bob.code()).error == INVALID
