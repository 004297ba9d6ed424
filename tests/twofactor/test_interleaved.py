"""Changes between the check of a request and its action: the current row decides, not what was
read."""

import pytest

from authservice.twofactor import codes
from authservice.twofactor.models import Authenticator, BackupCode
from tests.interleaved import once_counted

pytestmark = pytest.mark.django_db
OUT = (401, "INVALID_TOKEN")


@pytest.fixture
def out_meanwhile(api, monkeypatch):
    """`out_meanwhile(ann)` ends her session while her next request is under way."""
    return lambda who: once_counted(monkeypatch, lambda: api.post("logout", token=who.token))


def test_session_that_ended_meanwhile_enables_no_factor(ann, out_meanwhile):
    ann.set_up()
    out_meanwhile(ann)

    assert ann.post("2fa/verify", code=ann.code()).error == OUT
    assert Authenticator.objects.get().confirmed is False


def test_session_that_ended_meanwhile_disables_no_factor(enrolled, out_meanwhile):
    out_meanwhile(enrolled)

    assert enrolled.post("2fa/disable", code=enrolled.code()).error == OUT
    assert Authenticator.objects.get().confirmed is True


def test_session_that_ended_meanwhile_gets_no_backup_codes(enrolled, out_meanwhile):
    before = set(BackupCode.objects.values_list("digest", flat=True))
    out_meanwhile(enrolled)

    assert enrolled.post("2fa/backup-codes", code=enrolled.code()).error == OUT
    assert set(BackupCode.objects.values_list("digest", flat=True)) == before


def test_login_is_refused_where_the_hash_changes_before_the_code_is_spent(
    api, enrolled, monkeypatch, settings
):
    token, spend = enrolled.temp_token(), codes.consume

    def spent(*given):
        # A concurrent login stores a better hash, which ends what began with the old one.
        settings.PASSWORD_HASHERS = list(reversed(settings.PASSWORD_HASHERS))
        api.log_in()
        return spend(*given)

    monkeypatch.setattr(codes, "consume", spent)

    assert enrolled.verify_login(enrolled.code(), token).error == OUT
