"""The sources of core: verified addresses, and what is left in the tables of each package."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from django.apps import apps

from authservice.core.importing.address_tables import AllauthAddresses, DjoserAddresses
from authservice.core.importing.left_rows import LeftRows, Table, unexpired
from authservice.core.importing.verified_addresses import AddressImport
from authservice.kernel.imports import ImportSource

_LINKS = (
    "links of providers: add 'authservice.oauth' to INSTALLED_APPS and run this again, or their"
    " users cannot log in with a provider unless it verifies their address"
)
_FACTORS = (
    "second factors: add 'authservice.twofactor' to INSTALLED_APPS and run this again, or their"
    " users log in without a second factor"
)
_UNSUPPORTED = (
    "second factors of a kind that this service does not have: if the user has no authenticator"
    " app, ask the user to set one up before you remove the package"
)
_OF_ALLAUTH = "the rows of django-allauth: authservice_import allauth imports them"
_OF_SOCIAL = "the rows of social-auth-app-django: authservice_import social_django imports them"
_PROVIDER_TOKENS = (
    "tokens of providers: with OAUTH.STORE_PROVIDER_TOKENS the next login with the provider stores"
    " new ones"
)
_OPAQUE = (
    "tokens without an end, which a session here must have: keep the authentication class of the"
    " package beside AuthserviceAuthentication until the clients have logged in again"
)
_DIGESTS = (
    "only digests of the tokens are stored: keep the authentication class of the package beside"
    " AuthserviceAuthentication until the clients have logged in again or the tokens have expired"
)
_REFRESH = (
    "refresh tokens: clients trade each for a session when they use it next, if"
    " authservice.compat.simplejwt is installed (see its page in the documentation)"
)
_KEYS = "WebAuthn keys: this service has no login with such keys, so their users need a password"

_DEVICES = (
    Table("otp_totp.TOTPDevice", _FACTORS),
    Table("otp_static.StaticDevice", _FACTORS),
    Table("otp_hotp.HOTPDevice", _UNSUPPORTED),
    Table("otp_email.EmailDevice", _UNSUPPORTED),
    Table("otp_twilio.TwilioSMSDevice", _UNSUPPORTED),
    Table("otp_yubikey.YubikeyDevice", _UNSUPPORTED),
    Table("otp_yubikey.RemoteYubikeyDevice", _UNSUPPORTED),
)
_OUTSTANDING = Table("token_blacklist.OutstandingToken", _REFRESH, only=unexpired("expires_at"))
_TOKENS = Table("authtoken.Token", _OPAQUE)

_TABLES: Mapping[str, tuple[Table, ...]] = {
    "allauth": (
        Table("socialaccount.SocialAccount", _LINKS),
        Table("socialaccount.SocialToken", _PROVIDER_TOKENS, user="account__user_id"),
        Table("mfa.Authenticator", _FACTORS),
    ),
    "dj_rest_auth": (
        Table("account.EmailAddress", _OF_ALLAUTH),
        Table("socialaccount.SocialAccount", _OF_ALLAUTH),
        Table("mfa.Authenticator", _OF_ALLAUTH),
        Table("dj_rest_auth_mfa.Authenticator", _FACTORS),
        _TOKENS,
        _OUTSTANDING,
    ),
    "django_otp": _DEVICES,
    "djoser": (
        Table("social_django.UserSocialAuth", _OF_SOCIAL),
        Table("webauthn.CredentialOptions", _KEYS),
        _TOKENS,
        _OUTSTANDING,
    ),
    "knox": (Table("knox.AuthToken", _DIGESTS, only=unexpired("expiry")),),
    "simplejwt": (_OUTSTANDING,),
    "two_factor": (
        *_DEVICES,
        Table("phonenumber.PhoneDevice", _UNSUPPORTED),
        Table("two_factor_webauthn.WebauthnDevice", _UNSUPPORTED),
    ),
}


# Packages that read tables of other apps: those tables do not say whether the package is installed.
_WITHOUT_TABLES = ("dj_rest_auth", "djoser", "two_factor")


def missing_app(package: str) -> str:
    """As in `ImportSource`, for all sources of a package of this name."""
    if package not in _WITHOUT_TABLES or apps.is_installed(package):
        return ""
    return f"{package!r} is not in INSTALLED_APPS. Keep it installed until the import is done."


def import_sources() -> Iterator[tuple[str, ImportSource]]:
    """The sources of core, which `kernel/imports.py` finds by this name."""
    yield "allauth", AddressImport(AllauthAddresses())
    yield "djoser", AddressImport(DjoserAddresses())
    for package, tables in _TABLES.items():
        yield package, LeftRows(package, tables)
