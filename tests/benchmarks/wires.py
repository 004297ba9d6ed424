"""How each side expresses the same four requests."""

import re
from dataclasses import dataclass

from tests.benchmarks import terms

JSON = "application/json"
NAME_AND_PASSWORD = f'{{"username": "%s", "password": "{terms.PASSWORD}"}}'
EMAIL_AND_PASSWORD = f'{{"email": "%s", "password": "{terms.PASSWORD}"}}'


@dataclass(frozen=True, kw_only=True)
class Wire:
    """Paths, bodies and token names; ``%s`` in a body is the part that changes per request."""

    me: str
    login: str
    refresh: str
    signup: str
    access_name: str
    refresh_name: str
    identity: str
    login_body: str
    refresh_body: str
    signup_body: str
    login_type: str = JSON
    # The header with the access token.
    token_header: str = "Authorization: Bearer %s"

    @property
    def endpoints(self) -> tuple[str, ...]:
        """The requests that the package has; the path of others is empty."""
        names = ("me", "login", "refresh", "signup")
        return tuple(name for name in names if getattr(self, name))

    def content_type(self, path: str) -> str:
        return self.login_type if path == self.login else JSON

    def token_headers(self, token: str) -> dict[str, str]:
        name, _, value = self.token_header.partition(": ")
        return {name: value % token}

    def login_as(self, number: int) -> str:
        """The login body of a seeded user."""
        return self.login_body % (self.identity % number)


OURS = Wire(
    me="/auth/me",
    login="/auth/login",
    refresh="/auth/refresh",
    signup="/auth/signup",
    access_name="access_token",
    refresh_name="refresh_token",
    identity=terms.EMAIL,
    login_body=EMAIL_AND_PASSWORD,
    refresh_body='{"refresh_token": "%s"}',
    signup_body=EMAIL_AND_PASSWORD,
)
BASELINE = Wire(
    me="/auth/user/",
    login="/auth/login/",
    refresh="/auth/token/refresh/",
    signup="/auth/registration/",
    access_name="access",
    refresh_name="refresh",
    # A lookup by e-mail scans the user table; a lookup by username uses an index.
    identity=terms.USERNAME,
    login_body=NAME_AND_PASSWORD,
    refresh_body='{"refresh": "%s"}',
    signup_body=(
        f'{{"email": "%s", "password1": "{terms.PASSWORD}", "password2": "{terms.PASSWORD}"}}'
    ),
)
BY_NAME = {"ours": OURS, "baseline": BASELINE}


def token_in(answer: str, name: str) -> str:
    """The token with the key *name* in the text of a JSON response."""
    found = re.search(rf'"{name}"\s*:\s*"([^"]+)"', answer)
    if found is None:
        raise LookupError(f"no {name} in the answer: {answer[:300]}")
    return found[1]
