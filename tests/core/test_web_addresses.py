"""Web addresses, such as that of an avatar: which are accepted, by the service and by its schema,
and what the message says."""

import re

import pytest

from authservice.core.api.serializers import Url

pytestmark = pytest.mark.django_db

ACCEPTED = [
    "https://example.com",
    "http://localhost:9000/a.png",
    "HTTPS://LOCALHOST",
    "https://example.com.",
    "https://example.com?size=2#face",
    "https://example.com/@ann",
    "https://user:word@example.com/",
    "https://1.2.3.4/a",
    "https://[::1]:80/a",
    "https://münchen.de/ä?x#y",
    "https://xn--mnchen-3ya.de",
    "https://xn--a.xn--p1ai/",
    " https://example.com/a ",
]
HOST, SCHEME, FORM = "The host of the URL", "starts with http", "must not contain spaces"
REFUSED = {
    "https://minio/avatars/1.png": HOST,
    "https://user@minio/": HOST,
    "https://minio:9000/": HOST,
    "https://0.a": HOST,
    "https://a.b.c": HOST,
    "https://a_b.com/": HOST,
    "https://example.c0m": HOST,
    "https://a..com": HOST,
    "https://exa mple.com": HOST,
    "https://xn--/": HOST,
    "https://[::1/": HOST,
    "http://": SCHEME,
    "https:///a": SCHEME,
    "ftp://example.com": SCHEME,
    "example.com": SCHEME,
    "javascript:alert(1)//https://example.com": SCHEME,
    "https://example.com/a b": FORM,
    "https://example.com:999999/": FORM,
    "https://example.com:port/": FORM,
}
# Rare hosts that only the service refuses.
BEYOND = {"https://300.1.1.1/": HOST, "https://-a.com/": HOST}


def fits(address):
    return bool(re.search(Url.described["pattern"], address))


@pytest.mark.parametrize("address", ACCEPTED)
def test_web_address_is_accepted_and_fits_the_pattern(api, address):
    token = api.sign_up()["access_token"]

    assert api.request("PUT", "profile", {"avatar": address}, token=token).status == 200
    assert fits(address)


@pytest.mark.parametrize(("address", "message"), [*REFUSED.items(), *BEYOND.items()])
def test_refused_web_address_names_what_is_wrong(api, address, message):
    token = api.sign_up()["access_token"]

    refused = api.request("PUT", "profile", {"avatar": address}, token=token)

    assert refused.error == (400, "VALIDATION_ERROR")
    assert refused.data["message"].startswith("avatar: ")
    assert message in refused.data["message"]
    assert fits(address) == (address in BEYOND)
