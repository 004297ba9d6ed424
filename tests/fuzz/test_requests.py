"""Bodies and headers of requests: no crash, no secret in the log, bounded time, one meaning."""

import ipaddress
import json
import logging

import pytest
from django.test import RequestFactory
from hypothesis import assume, example, given
from hypothesis import strategies as st

from authservice.core.api.callers import has_foreign_token
from authservice.kernel import errors, languages
from authservice.kernel.http import envelope, incoming
from authservice.kernel.http import incoming as clients
from authservice.kernel.origins import normal
from tests.fuzz.generated import DEEP, JSON, TEXTS, bounded, tried
from tests.support.client import Api
from tests.support.routes import with_a_body

MARK = "not-for-any-log"
OCTETS = st.binary(max_size=200).map(lambda raw: raw.decode("latin-1"))
HOSTS = st.ip_addresses().map(str) | st.text("0123456789abcf.:[]%", max_size=45)
HOPS = HOSTS | st.builds("[{}]:{}".format, HOSTS, st.integers(0, 99999)) | OCTETS
FIELDS = st.sampled_from(
    [
        *("email", "username", "password", "phone", "phone_number", "code", "token", "temp_token"),
        *("refresh_token", "new_password", "old_password", "name", "avatar", "id_token", "nonce"),
        *(
            "state",
            "redirect_uri",
            "code_verifier",
            "role",
            "slug",
            "settings",
            "user_id",
            "device",
        ),
    ]
)
VALUES = JSON | DEEP | st.sampled_from([MARK, MARK * 500, "ann@example.com", "+4930123456", True])
BODIES = st.dictionaries(FIELDS, VALUES, min_size=1, max_size=6).map(json.dumps)
DOUBLE = st.builds(
    lambda first, second: first[:-1] + "," + second[1:],
    *[st.dictionaries(FIELDS, JSON, min_size=1, max_size=3).map(json.dumps)] * 2,
)
LARGE = st.builds(
    lambda opening, size: opening * (size // len(opening)),
    st.sampled_from(["[", '{"a":', '[{"a":', "9", '"\\u0301', "-", " ", '{"a":1,', "\\"]),
    st.sampled_from([100, 5000, incoming.BODY_LIMIT, incoming.BODY_LIMIT + 9]),
)
ROUTES = [route for route in with_a_body() if not route.takes_form]


@pytest.mark.django_db
@given(route=st.sampled_from(ROUTES), sent=BODIES | DOUBLE | LARGE, logged_in=st.booleans())
@tried(150)
def test_any_body_is_answered_without_a_crash_or_a_secret_in_the_log(
    configure, caplog, route, sent, logged_in
):
    configure(THROTTLE={"ENABLED": False})
    api = Api(raising=False)
    caplog.clear()
    token = f"{MARK}.a.b" if logged_in else ""
    with caplog.at_level(logging.DEBUG, "authservice"), bounded():
        answer = api.request(route.method, route.path, sent, token=token)

    assert answer.status < 500 or answer.status == 501, answer.body
    assert MARK not in caplog.text


@given(raw=BODIES.map(str.encode) | DOUBLE.map(str.encode) | LARGE.map(str.encode) | st.binary())
@tried(150)
def test_body_is_the_object_that_was_sent_or_refused(raw):
    request = RequestFactory().generic("POST", "/", raw, content_type="application/json")

    try:
        with bounded():
            read = incoming.read_body(request)
    except (errors.InvalidJSON, errors.InvalidRequestBody, errors.RequestTooLarge):
        return

    assert len(raw) <= incoming.BODY_LIMIT
    assert read == (json.loads(raw) if raw else {})


def address(**meta):
    return clients.client(RequestFactory().get("/", **meta), "1")


@given(st.lists(HOPS.filter(lambda hop: "," not in hop), max_size=4), st.integers(1, 3), HOPS)
@tried(150)
def test_address_behind_proxies_is_normal_and_not_chosen_by_the_client(
    configure, hops, proxies, forged
):
    configure(TRUSTED_PROXIES=proxies)
    appended = ["192.0.2.1", *hops[: proxies - 1]]
    assume(len(appended) == proxies)

    with bounded():
        found = address(HTTP_X_FORWARDED_FOR=", ".join([forged, *appended]))

    assert found.address == "192.0.2.1"


@given(HOPS)
@example("::ffff:192.0.2.1")
@example("fe80::1%eth0")
@tried(150)
def test_address_is_in_its_one_form(hop):
    found = address(REMOTE_ADDR=hop)
    assume(found.address)

    known = ipaddress.ip_address(found.address)
    assert str(known) == found.address
    assert "%" not in found.address
    assert known.version == 4 or known.ipv4_mapped is None
    again = address(REMOTE_ADDR=found.address)
    assert (again.address, again.network) == (found.address, found.network)


@given(OCTETS | st.builds("{} {}".format, st.sampled_from(["Bearer", "bearer", "Basic"]), OCTETS))
@tried(100)
def test_any_authorization_header_is_ours_or_foreign(header):
    with bounded():
        assert has_foreign_token(RequestFactory().get("/", HTTP_AUTHORIZATION=header)) in (
            True,
            False,
        )


@given(OCTETS, st.lists(OCTETS | TEXTS, max_size=4).map("; ".join))
@tried(100)
def test_cookie_is_of_bounded_length(name, header):
    request = RequestFactory().get("/")
    request.META["HTTP_COOKIE"] = header.encode("utf-8", "replace").decode("latin-1")

    with bounded():
        assert len(envelope.get_cookie(request, name)) <= 4096


LANGUAGES = st.lists(
    st.sampled_from(["de", "fr", "en-US", "*", "xx", "de;q=0.5", "q=1", "../../de", "zh-hans"])
    | TEXTS
).map(",".join)


@given(LANGUAGES | OCTETS, LANGUAGES | OCTETS)
@tried(100)
def test_negotiated_language_is_one_of_the_project(settings, header, cookie):
    settings.LANGUAGES = [("en", "English"), ("de", "Deutsch")]

    with bounded():
        assert languages._match(cookie[:300], header[:300]) in ("", "en", "de")


ORIGINS = st.builds(
    "{}://{}{}{}".format,
    st.sampled_from(["http", "https", "HTTPS", "ftp", "javascript", ""]),
    HOSTS | TEXTS | st.sampled_from(["example.com", "EXAMPLE.com.", "user@example.com"]),
    st.sampled_from(["", ":80", ":443", ":0443", ":99999", ":x", ":"]),
    st.sampled_from(["", "/", "/path?query", "#", "\\@evil.example"]),
)


@given(ORIGINS | TEXTS | OCTETS)
@tried(150)
def test_origin_is_in_its_one_form(text):
    with bounded():
        found = normal(text)
    assume(found)

    assert normal(found) == found
    assert found.isascii()
    assert found.isprintable()
    assert not set(found.partition("://")[2]) & set("/@?#\\ ")
