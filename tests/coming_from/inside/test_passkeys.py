"""Passkeys and security keys of other packages work here after the import, with the same device."""

import base64
from datetime import timedelta

import pytest
from allauth.mfa.adapter import get_adapter
from allauth.mfa.models import Authenticator as Allauth
from allauth.mfa.webauthn.internal.auth import WebAuthn, get_credentials
from django.test import override_settings
from django.utils import timezone
from django_otp_webauthn.models import WebAuthnAttestation, WebAuthnCredential

from authservice.core.models import Account, Session
from authservice.passkeys import keys
from authservice.passkeys.importing import sources
from authservice.passkeys.models import Handle, Passkey
from tests.coming_from.inside.conftest import ANN, BOB, old_user, old_users
from tests.passkeys.authenticator import BE, BS, UP, UV, Authenticator
from tests.passkeys.people import Holder, begin_login, finish_login
from tests.support.client import PASSWORD
from tests.support.people import the_user

pytestmark = pytest.mark.django_db


def text(raw):
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


def of_allauth(user, device, *, discoverable=True, rp_id="testserver", name="Blue phone"):
    """A key as the pages of the package store it: the whole answer of the browser."""
    handle = text(get_adapter().get_public_key_credential_user_entity(user)["id"])
    options = {"challenge": "AAAA", "rp": {"id": rp_id}, "user": {"id": handle}}
    answer = device.create(options)
    answer["clientExtensionResults"] = {"credProps": {"rk": discoverable}}
    WebAuthn.add(user, name, answer)
    # The package itself reads what was stored.
    assert device.credentials[-1].id in [one.credential_id for one in get_credentials(user)]
    return Allauth.objects.latest("pk")


def of_django_otp_webauthn(user, device, *, discoverable=True, rp_id="testserver", name=""):
    """A key that the package itself has verified and stored."""
    with override_settings(OTP_WEBAUTHN_RP_ID=rp_id):
        helper = WebAuthnCredential.get_webauthn_helper(None)
        options, state = helper.register_begin(user)
        answer = device.create(options)
        answer["clientExtensionResults"] = {"credProps": {"rk": discoverable}}
        row = helper.register_complete(user, state, answer)
    row.name = name or "Blue phone"
    row.save()
    return row


KINDS = [("allauth", of_allauth), ("django_otp_webauthn", of_django_otp_webauthn)]


@pytest.fixture(params=KINDS, ids=[name for name, _ in KINDS])
def kind(request):
    return request.param


@pytest.fixture
def source(kind):
    return kind[0]


@pytest.fixture
def make(kind):
    """`make(user, device)`: a key of the user in the package; returns its row."""
    return kind[1]


def log_in(api, device):
    begun = begin_login(api)
    return finish_login(api, begun, device.get(begun["options"]))


def challenge(api):
    return api.post("login", email=ANN, password=PASSWORD).data["challenges"][0]["data"]


def test_passkey_logs_in_with_the_same_device(api, bring, source, make):
    device = Authenticator(flags=UP | UV | BE | BS)
    row = make(old_user(), device)

    report = bring(source)

    assert "passkeys and security keys: 1 row read, 1 imported" in report
    answer = log_in(api, device)
    assert answer.status == 200, answer.body
    assert answer.data["user"]["email"] == ANN
    [passkey] = Passkey.objects.all()
    assert (passkey.name, passkey.second_factor, passkey.verifies) == ("Blue phone", True, True)
    assert (passkey.transports, passkey.backup_eligible, passkey.attested) == (
        "nfc usb",
        True,
        False,
    )
    assert passkey.created_at == row.created_at


def test_key_is_asked_for_after_the_password(api, bring, source, make):
    device = Authenticator(flags=UP)
    make(old_user(), device, discoverable=False)
    bring(source)

    asked = challenge(api)
    credential = device.get(asked["passkey"], handle=None)
    answer = api.post("2fa/verify-login", temp_token=asked["temp_token"], credential=credential)

    assert answer.data["access_token"]
    # It has not verified its user, so its finder could set a PIN and log in.
    device.flags = UP | UV
    assert log_in(api, device).error == (401, "PASSKEY_INVALID")


def test_key_that_is_not_discoverable_does_not_log_in_alone(bring, source, make):
    make(old_user(), Authenticator(), discoverable=False)
    bring(source)

    assert [one.verifies for one in Passkey.objects.all()] == [False]


def test_second_run_imports_nothing_and_a_removed_key_stays_removed(bring, source, make):
    make(old_user(), Authenticator())
    bring(source)

    assert "1 row read, 0 imported, 1 already there" in bring(source)
    Passkey.objects.all().delete()
    report = bring(source)

    assert "0 imported" in report
    assert "was removed here since" in report
    assert not Passkey.objects.exists()


def test_dry_run_writes_nothing_and_reports_the_same(bring, source, make):
    users = old_users(ANN, BOB)
    for user in users:
        make(user, Authenticator())

    dry = bring(source, "--dry-run", "--batch-size", "1")

    assert not Passkey.objects.exists()
    assert not Handle.objects.exists()
    assert "2 rows read, 2 would be imported" in dry
    assert "2 rows read, 2 imported" in bring(source, "--batch-size", "1")


def test_key_of_another_domain_is_left(bring, source, make):
    make(old_user(), Authenticator(origin="http://testserver"), rp_id="other.example")

    report = bring(source)

    assert f"Skipped: {sources.DOMAIN}" in report
    assert not Passkey.objects.exists()


def test_key_from_before_a_proof_of_the_address_is_left(bring, source, make):
    make(old_user(), Authenticator())
    Account.objects.update(email_proven_at=timezone.now() + timedelta(minutes=1))

    report = bring(source)

    assert "was proven here later" in report
    assert not Passkey.objects.exists()


def test_key_that_another_account_has_is_a_conflict(bring, source, make):
    ann, bob = old_users(ANN, BOB)
    device = Authenticator()
    make(ann, device)
    bring(source)
    Passkey.objects.update(user=bob)

    report = bring(source)

    assert sources.KEY_CONFLICT in report
    assert [one.user for one in Passkey.objects.all()] == [bob]


def test_user_who_has_a_passkey_here_keeps_the_handle(api, bring, source, make):
    old_user()
    holder = Holder(api)
    holder.token = api.log_in(ANN)["access_token"]
    holder.enrol()
    before = Handle.objects.get().value
    make(the_user(ANN), Authenticator())

    report = bring(source)

    assert f"Skipped: {sources.HANDLE}" in report
    assert Handle.objects.get().value == before
    assert Passkey.objects.count() == 1


def test_more_keys_than_the_limit_are_left(bring, source, make, monkeypatch):
    user = old_user()
    monkeypatch.setattr(keys, "LIMIT", 2)
    for _ in range(3):
        make(user, Authenticator())

    assert f"Skipped: {sources.MANY}" in bring(source)
    assert Passkey.objects.count() == 2


def test_no_session_ends_and_each_import_is_an_event(api, bring, source, make, recorded):
    make(old_user(), Authenticator())
    api.log_in(ANN)

    bring(source)

    assert Session.objects.filter(ended_at=None).count() == 1
    [event] = recorded("auth.passkey.added")
    assert (event.actor_type, event.metadata) == ("system", {"reason": "import"})


BROKEN = [
    None,
    {},
    {"credential": None},
    {"credential": {"response": {}}},
    {"credential": {"response": {"attestationObject": "!"}}},
    {"credential": {"response": {"attestationObject": text(b"\xa0")}}},
    {"credential": {"response": {"attestationObject": text(b"\xff" * 400)}}},
]


@pytest.mark.parametrize("data", BROKEN)
def test_unreadable_row_of_allauth_is_reported_and_the_others_are_imported(bring, data):
    ann, bob = old_users(ANN, BOB)
    Allauth.objects.create(user=ann, type="webauthn", data=data or [])
    of_allauth(bob, Authenticator())

    report = bring("allauth")

    assert f"Skipped: {sources.UNREADABLE}" in report
    assert [one.user for one in Passkey.objects.all()] == [bob]


def test_unconfirmed_device_and_one_without_its_registration_are_left(bring):
    ann, bob = old_users(ANN, BOB)
    row = of_django_otp_webauthn(ann, Authenticator())
    row.confirmed = False
    row.save()
    of_django_otp_webauthn(bob, Authenticator())
    WebAuthnAttestation.objects.filter(credential__user=bob).delete()

    report = bring("django_otp_webauthn")

    assert f"Skipped: {sources.UNCONFIRMED}" in report
    assert f"Skipped: {sources.UNREADABLE}" in report
    assert not Passkey.objects.exists()


@pytest.mark.parametrize("name", ["", 7, None, "\x1b[31m", "x" * 200])
def test_name_is_printable_and_short(bring, name):
    of_allauth(old_user(), Authenticator(), name=name)
    bring("allauth")

    [passkey] = Passkey.objects.all()
    assert passkey.name.isprintable()
    assert 0 < len(passkey.name) <= 64


def test_authenticator_app_and_passkey_of_one_user_are_both_imported(bring):
    """The rows are in one table, and each module imports its own."""
    from tests.coming_from.inside.factors import of_allauth as app_of_allauth

    user = old_user()
    app_of_allauth(user)
    of_allauth(user, Authenticator())

    report = bring("allauth")

    assert "authenticator apps and backup codes: 1 row read, 1 imported" in report
    assert "passkeys and security keys: 1 row read, 1 imported" in report
