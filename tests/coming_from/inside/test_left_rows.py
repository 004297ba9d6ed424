"""What is not imported is reported, with its users, the reason and what to do."""

from datetime import timedelta

import pytest
from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount, SocialApp, SocialToken
from dj_rest_auth.mfa.models import Authenticator as RestAuthenticator
from django.utils import timezone
from django_otp.plugins.otp_email.models import EmailDevice
from knox.models import AuthToken
from rest_framework.authtoken.models import Token
from rest_framework_simplejwt.token_blacklist.models import OutstandingToken
from rest_framework_simplejwt.tokens import RefreshToken
from two_factor.plugins.phonenumber.models import PhoneDevice

from tests.coming_from.inside.conftest import old_user
from tests.coming_from.inside.factors import KINDS

pytestmark = pytest.mark.django_db


@pytest.fixture
def ann():
    return old_user()


def test_tokens_of_knox_are_reported_until_they_expire(bring, ann):
    _, token = AuthToken.objects.create(ann)
    AuthToken.objects.create(ann, expiry=timedelta(seconds=-1))

    report = bring("knox")

    assert (
        "left in the tables of the package: 1 row. This is no failure: this run imports none"
        " of them, for these reasons.\nNot imported: "
    ) in report
    assert "only digests of the tokens are stored" in report
    assert f"knox.AuthToken (user {ann.pk})" in report
    assert AuthToken.objects.first().digest not in report
    assert token not in report


@pytest.mark.parametrize("source", ["simplejwt", "dj_rest_auth", "djoser"])
def test_live_refresh_tokens_are_reported(bring, ann, source):
    RefreshToken.for_user(ann)
    expired = RefreshToken.for_user(ann)["jti"]
    OutstandingToken.objects.filter(jti=expired).update(expires_at=timezone.now())

    report = bring(source)

    assert "clients trade each for a session" in report
    assert f"rows token_blacklist.OutstandingToken (user {ann.pk})\n" in report


@pytest.mark.parametrize("source", ["dj_rest_auth", "djoser"])
def test_tokens_of_the_rest_framework_are_reported(bring, ann, source):
    token = Token.objects.create(user=ann)

    report = bring(source)

    assert "tokens without an end" in report
    assert token.key not in report


def test_devices_of_another_kind_are_reported(bring, ann):
    EmailDevice.objects.create(user=ann, name="mail")
    PhoneDevice.objects.create(user=ann, name="phone", number="+31101234567", method="sms")

    report = bring("two_factor")

    assert "second factors of a kind that this service does not have" in report
    assert f"otp_email.EmailDevice (user {ann.pk})" in report
    assert f"phonenumber.PhoneDevice (user {ann.pk})" in report


def test_tokens_of_providers_are_reported(bring, ann):
    app = SocialApp.objects.create(provider="google", name="Google", client_id="x")
    account = SocialAccount.objects.create(user=ann, provider="google", uid="1")
    SocialToken.objects.create(app=app, account=account, token="secret-token")

    report = bring("allauth")

    assert f"socialaccount.SocialToken (user {ann.pk})" in report
    assert "secret-token" not in report


def test_second_factors_are_left_without_the_module(bring, ann, settings):
    Authenticator.objects.create(user=ann, type="totp", data={"secret": "SECRETSEED"})
    settings.INSTALLED_APPS = [one for one in settings.INSTALLED_APPS if "twofactor" not in one]

    report = bring("allauth")

    assert "add 'authservice.twofactor' to INSTALLED_APPS" in report
    assert f"mfa.Authenticator (user {ann.pk})" in report
    assert "SECRETSEED" not in report


@pytest.mark.parametrize("source", ["allauth", "dj_rest_auth"])
def test_recovery_codes_of_a_user_without_an_app_are_reported(bring, ann, source):
    """Such as those of a user who has only security keys."""
    make = dict(KINDS)[source]
    make(ann)
    model = Authenticator if source == "allauth" else RestAuthenticator
    model.objects.filter(type="totp").delete()

    assert "backup codes of a user without an authenticator app" in bring(source)
