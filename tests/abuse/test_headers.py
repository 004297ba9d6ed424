"""No header value causes a 5xx, and every response uses the envelope."""

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support.client import BASE, PASSWORD, Answer, Api
from tests.support.routes import routes

pytestmark = pytest.mark.django_db

# As a server passes them: octets decoded as latin-1 (PEP 3333).
OCTETS = st.binary(max_size=120).map(lambda raw: raw.decode("latin-1"))
NAMES = [
    "HTTP_AUTHORIZATION",
    "HTTP_X_REQUEST_ID",
    "HTTP_X_DEVICE_TOKEN",
    "HTTP_X_FORWARDED_FOR",
    "HTTP_COOKIE",
    "HTTP_ACCEPT",
    "HTTP_ACCEPT_LANGUAGE",
    "HTTP_ACCEPT_ENCODING",
    "HTTP_ORIGIN",
    "HTTP_REFERER",
    "HTTP_USER_AGENT",
    "HTTP_PURPOSE",
    "HTTP_SEC_PURPOSE",
    "HTTP_X_CSRF_TOKEN",
    "HTTP_TRANSFER_ENCODING",
    "CONTENT_TYPE",
    "QUERY_STRING",
    "REMOTE_ADDR",
]
# Values that resemble valid ones, so that the validation code runs.
NEAR = [
    *("Bearer ", "Bearer a.b.c", "bearer\t.", "Basic YTpi", "JWT x", "Bearer " + "a" * 9000),
    *(
        "-1",
        "1e3",
        "٣".encode().decode("latin-1"),
        "99999999999999999999",
        "0x10",
        "+5",
        "5, 5",
        "65537",
    ),
    *("1.2.3.4, ", "::1%eth0", "[::1]:80", "256.1.1.1", "unknown", ",,,,", "1.2.3.4:99999"),
    *("application/json; charset=utf-16", "application/json; charset=", "a/b; c", ";", "=?="),
    *('authservice_device="\\"', "authservice_device=\x00", "a=b; a=c; =; ;;", "$Version=1"),
    *("null", "https://", "https://[", "a" * 200, "%", "a=1&" * 1100),
]
# A length beyond the body makes a real server wait: see `test_raw_headers`.
LENGTHS = st.sampled_from(["", "1e3", "0x10", "+0", "5, 5", "\x00", "0", "a", "²"])
BODIES = ["", "{}", "[", json.dumps({"email": "ann@example.com", "password": PASSWORD})]
HEADERS = st.dictionaries(
    st.sampled_from(NAMES), OCTETS | st.sampled_from(NEAR), min_size=1, max_size=4
) | st.fixed_dictionaries({"CONTENT_LENGTH": LENGTHS})
ROUTES = routes()


def enveloped(answer: Answer) -> bool:
    """Whether a response is a success or a refusal in the envelope, which OpenAPI pages lack."""
    if not answer.headers["X-Request-ID"]:
        return False
    if answer.status < 400:
        return True
    if answer.headers["Content-Type"] != "application/json":
        return False
    # 501: what the project has not set up, such as e-mails.
    return (answer.status < 500 or answer.status == 501) and set(answer.data) == {"code", "message"}


@pytest.mark.parametrize("proxies", [0, 2])
def test_any_header_on_any_route_is_answered_in_the_envelope(configure, proxies):
    configure(THROTTLE={"ENABLED": False}, TRUSTED_PROXIES=proxies)
    token = Api().sign_up()["access_token"]

    @given(st.sampled_from(ROUTES), st.sampled_from(BODIES), HEADERS, st.booleans())
    @settings(deadline=None, max_examples=300, suppress_health_check=list(HealthCheck))
    def ask(route, body, headers, logged_in):
        given_token = {"token": token} if logged_in else {}
        answer = Api(raising=False).request(
            route.method, route.path, body, **given_token, **headers
        )
        assert enveloped(answer), (BASE, route, headers, answer.status)

    ask()
