"""Second factors as the packages store them, and logins with their codes."""

import base64
import time

import pyotp
from allauth.mfa.models import Authenticator as Allauth
from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes as AllauthCodes
from allauth.mfa.totp.internal.auth import TOTP as ALLAUTH_TOTP
from dj_rest_auth.mfa.recovery_codes import RecoveryCodes as RestCodes
from dj_rest_auth.mfa.totp import TOTP as REST_TOTP
from django_otp.plugins.otp_static.models import StaticDevice
from django_otp.plugins.otp_totp.models import TOTPDevice

from authservice.core.users import lookup
from authservice.kernel.secret import Secret
from tests.coming_from.inside.conftest import ANN
from tests.support.client import PASSWORD

SEED = base64.b32encode(b"a seed of 20 octets.").decode()
OTHER = base64.b32encode(b"a seed of 20 others.").decode()
CODES = ["abcd2345", "efgh6723"]


def of_allauth(user, seed=SEED):
    """An app and its recovery codes, made by the package itself."""
    ALLAUTH_TOTP.activate(user, seed)
    return AllauthCodes.activate(user).get_unused_codes()


def of_dj_rest_auth(user, seed=SEED):
    REST_TOTP.activate(user, seed)
    return RestCodes.activate(user)


def of_django_otp(user, seed=SEED, *, codes=CODES, **more):
    key = base64.b32decode(seed).hex()
    given = {"key": key, "name": "default", "confirmed": True, **more}
    TOTPDevice.objects.create(user=user, **given)
    if codes:
        device = StaticDevice.objects.create(user=user, name="backup")
        for code in codes:
            device.token_set.create(token=code)
    return list(codes)


# The source, and the function that makes a factor there.
KINDS = [
    ("allauth", of_allauth),
    ("dj_rest_auth", of_dj_rest_auth),
    ("django_otp", of_django_otp),
    ("two_factor", of_django_otp),
]


def code_of(seed=SEED, *, steps=0):
    return pyotp.TOTP(seed).at(time.time() + 30 * steps)


def challenge(api, email=ANN):
    """The `temp_token` of a login; None if it asks for no second factor."""
    data = api.post("login", email=email, password=PASSWORD).data
    challenges = data.get("challenges")
    return challenges[0]["data"]["temp_token"] if challenges else None


def log_in(api, code, email=ANN):
    return api.post("2fa/verify-login", temp_token=challenge(api, email), code=code)


def allauth_row(user, **data):
    return Allauth.objects.create(user=user, type="totp", data=data)


__all__ = ["CODES", "KINDS", "OTHER", "SEED", "Secret", "lookup"]
