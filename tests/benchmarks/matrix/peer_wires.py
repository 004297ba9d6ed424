"""How each peer expresses the four requests; an empty path is a request that it does not have."""

from dataclasses import replace

from tests.benchmarks import terms
from tests.benchmarks.wires import EMAIL_AND_PASSWORD, NAME_AND_PASSWORD, Wire

_NO_REFRESH = {"refresh": "", "refresh_name": "none", "refresh_body": ""}

DJOSER = Wire(
    me="/auth/users/me/",
    login="/auth/jwt/create/",
    refresh="/auth/jwt/refresh/",
    signup="/auth/users/",
    access_name="access",
    refresh_name="refresh",
    identity=terms.USERNAME,
    login_body=NAME_AND_PASSWORD,
    refresh_body='{"refresh": "%s"}',
    signup_body=NAME_AND_PASSWORD,
)
KNOX = Wire(
    **_NO_REFRESH,
    me="/auth/me",
    login="/auth/login",
    signup="",
    access_name="token",
    identity=terms.USERNAME,
    login_body=NAME_AND_PASSWORD,
    signup_body="",
    token_header="Authorization: Token %s",
)
_ALLAUTH = "/_allauth/app/v1"
ALLAUTH_JWT = Wire(
    me=f"{_ALLAUTH}/auth/session",
    login=f"{_ALLAUTH}/auth/login",
    refresh=f"{_ALLAUTH}/tokens/refresh",
    signup=f"{_ALLAUTH}/auth/signup",
    access_name="access_token",
    refresh_name="refresh_token",
    identity=terms.USERNAME,
    login_body=NAME_AND_PASSWORD,
    refresh_body='{"refresh_token": "%s"}',
    signup_body=EMAIL_AND_PASSWORD,
)
ALLAUTH_SESSION = replace(
    ALLAUTH_JWT, **_NO_REFRESH, access_name="session_token", token_header="X-Session-Token: %s"
)
FASTAPI_USERS = Wire(
    **_NO_REFRESH,
    me="/users/me",
    login="/auth/jwt/login",
    signup="/auth/register",
    access_name="access_token",
    identity=terms.EMAIL,
    login_body=f"username=%s&password={terms.PASSWORD}",
    signup_body=EMAIL_AND_PASSWORD,
    login_type="application/x-www-form-urlencoded",
)
BETTER_AUTH = Wire(
    **_NO_REFRESH,
    me="/api/auth/get-session",
    login="/api/auth/sign-in/email",
    signup="/api/auth/sign-up/email",
    access_name="token",
    identity=terms.EMAIL,
    login_body=EMAIL_AND_PASSWORD,
    signup_body=f'{{"name": "New", "email": "%s", "password": "{terms.PASSWORD}"}}',
)
