"""An attacker cannot change the target of a redirect."""

from urllib.parse import urlencode, urlsplit

import pytest

from tests.support.routes import routes

pytestmark = pytest.mark.django_db

APP = "https://app.example.com"
NAMES = ["next", "redirect", "redirect_to", "redirect_uri", "return_to", "callback", "url", "to"]
VECTORS = [
    "https://evil.example",
    "http://evil.example",
    "//evil.example",
    "///evil.example",
    "////evil.example",
    "/\\evil.example",
    "\\\\evil.example",
    "\\/evil.example",
    "https:evil.example",
    "https:/evil.example",
    "https:///evil.example",
    "https:\\\\evil.example",
    "HTTPS://EVIL.EXAMPLE",
    "%2f%2fevil.example",
    "%252f%252fevil.example",
    "%5c%5cevil.example",
    "/%09/evil.example",
    "/\t/evil.example",
    "\thttps://evil.example",
    "\nhttps://evil.example",
    " https://evil.example",
    "https://app.example.com@evil.example",
    "https://app.example.com:pw@evil.example",
    "https://app.example.com.evil.example",
    "https://evil.example/https://app.example.com",
    "https://evil.example#app.example.com",
    "https://evil.example?app.example.com",
    "https://evil.example\\.app.example.com",
    "https://evil.example%00.app.example.com",
    "https://evil。example",
    "https://evil．example",
    "https://xn--evl-sma.example",
    "https://evıl.example",
    "https://[::1]/",
    "https://169.254.169.254/",
    "https://0x7f.1/",
    "javascript:alert(1)",
    "java\tscript:alert(1)",
    "JaVaScRiPt:alert(1)",
    "data:text/html,<script>alert(1)</script>",
    "vbscript:msgbox(1)",
    "file:///etc/passwd",
    "ftp://evil.example",
    "SECRET_KEY",
    "AUTHSERVICE",
    "#access_token=x",
    "?status=success",
    "../../evil",
]


@pytest.fixture(autouse=True)
def _frontend(configure):
    configure(
        FRONTEND={"URL": APP, "VERIFY_EMAIL_CALLBACK_PATH": "/verified"},
        THROTTLE={"ENABLED": False},
    )


def gets():
    return [route.path for route in routes() if route.method == "GET" and route.public]


# The vectors share a test: the API description is made again for each change of a setting.
def test_parameter_never_redirects_to_another_site(api):
    for vector in VECTORS:
        query = urlencode({"token": "A", "email": "B", **dict.fromkeys(NAMES, vector)})

        locations = {api.get(f"{path}?{query}").headers.get("Location") for path in gets()}

        assert locations == {None, f"{APP}/verified?status=error"}, vector


def test_stored_value_never_redirects_to_another_site(api):
    for number, vector in enumerate(VECTORS):
        name = vector.strip().replace("\t", "")
        token = api.sign_up(f"u{number}@example.com", name=name)["access_token"]
        api.request("PUT", "profile", {"avatar": vector}, token=token)

        found = {api.get(path, token=token).headers.get("Location") for path in gets()} - {None}

        assert {urlsplit(location).netloc for location in found} == {urlsplit(APP).netloc}, vector
