"""How each peer expresses the four requests; an empty path is a request that it does not have."""

from tests.benchmarks import terms
from tests.benchmarks.wires import Wire

_BY_NAME = f'{{"username": "%s", "password": "{terms.PASSWORD}"}}'
_BY_EMAIL = f'{{"email": "%s", "password": "{terms.PASSWORD}"}}'
_NO_REFRESH = {"refresh": "", "refresh_name": "none", "refresh_body": ""}

DJOSER = Wire(
    me="/auth/users/me/",
    login="/auth/jwt/create/",
    refresh="/auth/jwt/refresh/",
    signup="/auth/users/",
    access_name="access",
    refresh_name="refresh",
    identity=terms.USERNAME,
    login_body=_BY_NAME,
    refresh_body='{"refresh": "%s"}',
    signup_body=_BY_NAME,
)
KNOX = Wire(
    **_NO_REFRESH,
    me="/auth/me",
    login="/auth/login",
    signup="",
    access_name="token",
    identity=terms.USERNAME,
    login_body=_BY_NAME,
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
    login_body=_BY_NAME,
    refresh_body='{"refresh_token": "%s"}',
    signup_body=_BY_EMAIL,
)
ALLAUTH_SESSION = Wire(
    **_NO_REFRESH,
    me=ALLAUTH_JWT.me,
    login=ALLAUTH_JWT.login,
    signup=ALLAUTH_JWT.signup,
    access_name="session_token",
    identity=terms.USERNAME,
    login_body=_BY_NAME,
    signup_body=_BY_EMAIL,
    token_header="X-Session-Token: %s",
)
FASTAPI_USERS = Wire(
    **_NO_REFRESH,
    me="/users/me",
    login="/auth/jwt/login",
    signup="/auth/register",
    access_name="access_token",
    identity=terms.EMAIL,
    login_body=f"username=%s&password={terms.PASSWORD}",
    signup_body=_BY_EMAIL,
    login_type="application/x-www-form-urlencoded",
)
BETTER_AUTH = Wire(
    **_NO_REFRESH,
    me="/api/auth/get-session",
    login="/api/auth/sign-in/email",
    signup="/api/auth/sign-up/email",
    access_name="token",
    identity=terms.EMAIL,
    login_body=_BY_EMAIL,
    signup_body=f'{{"name": "New", "email": "%s", "password": "{terms.PASSWORD}"}}',
)
