"""Changes between the check of a request and its action: the current row decides, not the row
that was read before."""

import pytest

from authservice.core.credentials import lockout
from authservice.core.models import Session
from authservice.core.users import lookup
from authservice.kernel.client import DeviceToken
from authservice.kernel.secret import Secret
from authservice.twofactor import authenticators
from authservice.twofactor.models import Authenticator, BackupCode
from tests.support.client import PASSWORD
from tests.support.interleaved import once_counted
from tests.support.people import the_user
from tests.twofactor.people import ANN

pytestmark = pytest.mark.django_db
LOGGED_OUT = (401, "INVALID_TOKEN")


@pytest.fixture
def log_out_meanwhile(api, monkeypatch):
    """`log_out_meanwhile(ann)` ends her session while her next request is processed."""
    return lambda user: once_counted(monkeypatch, lambda: api.post("logout", token=user.token))


def test_session_that_ended_meanwhile_enables_no_factor(ann, log_out_meanwhile):
    ann.set_up()
    log_out_meanwhile(ann)

    assert ann.post("2fa/verify", code=ann.code()).error == LOGGED_OUT
    assert Authenticator.objects.get().confirmed is False


def test_login_before_which_a_factor_was_enabled_meanwhile_gets_no_valid_tokens(
    api, ann, monkeypatch
):
    """The user and the absence of a factor are read before the password is checked."""
    ann.set_up()
    once_counted(monkeypatch, lambda: ann.post("2fa/verify", code=ann.code()))

    late = api.post("login", email=ANN, password=PASSWORD)

    assert Authenticator.objects.get().confirmed is True
    assert api.get("me", token=late.data["access_token"]).error == LOGGED_OUT
    assert api.post("refresh", refresh_token=late.data["refresh_token"]).status == 401
    device = late.headers["X-Device-Token"]
    assert (
        lockout.find_device(DeviceToken.read(Secret(device)), lookup.get_person(the_user())) is None
    )


def test_session_that_ended_meanwhile_disables_no_factor(enrolled, log_out_meanwhile):
    log_out_meanwhile(enrolled)

    assert enrolled.post("2fa/disable", code=enrolled.code()).error == LOGGED_OUT
    assert Authenticator.objects.get().confirmed is True


@pytest.mark.parametrize("kind", ["totp", "backup"])
def test_session_that_ended_meanwhile_proves_no_level_and_leaves_the_code(
    enrolled, log_out_meanwhile, clock, kind
):
    clock.forward(seconds=30)
    asked = enrolled.post("step-up", acr="aal2").data["challenges"][0]["data"]
    code = enrolled.code() if kind == "totp" else enrolled.backup_codes[0]
    before = Session.objects.get(ended_at=None).levels
    log_out_meanwhile(enrolled)

    answer = enrolled.post("step-up/verify", temp_token=asked["temp_token"], code=code)

    assert answer.error == LOGGED_OUT
    assert Session.objects.latest("ended_at").levels == before
    assert enrolled.verify_login(code).status == 200


@pytest.mark.parametrize("kind", ["totp", "backup"])
def test_code_that_was_used_meanwhile_proves_no_level(enrolled, monkeypatch, clock, kind):
    clock.forward(seconds=30)
    asked = enrolled.post("step-up", acr="aal2").data["challenges"][0]["data"]
    code = enrolled.code() if kind == "totp" else enrolled.backup_codes[0]
    session = Session.objects.get(ended_at=None)
    temp_token = enrolled.temp_token()
    once_counted(monkeypatch, lambda: enrolled.verify_login(code, temp_token))

    answer = enrolled.post("step-up/verify", temp_token=asked["temp_token"], code=code)

    assert answer.error == (401, "TWO_FACTOR_INVALID")
    assert Session.objects.get(pk=session.pk).levels == session.levels


def test_session_that_ended_meanwhile_gets_no_backup_codes(enrolled, log_out_meanwhile):
    before = set(BackupCode.objects.values_list("digest", flat=True))
    log_out_meanwhile(enrolled)

    assert enrolled.post("2fa/backup-codes", code=enrolled.code()).error == LOGGED_OUT
    assert set(BackupCode.objects.values_list("digest", flat=True)) == before


def test_login_is_refused_if_the_hash_changes_before_the_code_is_used(
    api, enrolled, monkeypatch, settings
):
    token, consume = enrolled.temp_token(), authenticators.consume_code

    def consume_after_rehash(*given):
        # A concurrent login stores a better hash; this ends logins that began with the old hash.
        settings.PASSWORD_HASHERS = list(reversed(settings.PASSWORD_HASHERS))
        api.log_in()
        return consume(*given)

    monkeypatch.setattr(authenticators, "consume_code", consume_after_rehash)

    assert enrolled.verify_login(enrolled.code(), token).error == LOGGED_OUT
