"""A middleware that reads the request before authservice does not change the response."""

import pytest
from django.conf import settings

from tests.support.client import PASSWORD

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.skipif(
        not any("tests.hosts.readers" in name for name in settings.MIDDLEWARE),
        reason="this host has no such middleware",
    ),
]
FORM = "application/x-www-form-urlencoded"
PARTS = "multipart/form-data; boundary=x"
MULTIPART = b'--x\r\nContent-Disposition: form-data; name="email"\r\n\r\nann\r\n--x--\r\n'


def test_json_read_by_middleware_is_accepted(api):
    api.sign_up()

    assert api.post("login", email="ann@example.com", password=PASSWORD).status == 200


@pytest.mark.parametrize(("kind", "body"), [(FORM, b"email=ann"), (PARTS, MULTIPART)])
@pytest.mark.parametrize("path", ["signup", "login", "refresh"])
def test_form_read_by_middleware_is_unsupported(robust, path, kind, body):
    answer = robust.request("POST", path, body, content_type=kind)

    assert answer.error == (415, "UNSUPPORTED_MEDIA_TYPE")


def test_invalid_form_read_by_middleware_is_unsupported(robust):
    answer = robust.request("POST", "login", b"no parts", content_type=PARTS)

    assert answer.error == (415, "UNSUPPORTED_MEDIA_TYPE")


def test_too_large_body_read_by_middleware_is_refused(robust):
    body = {"email": "ann@example.com", "password": "x" * 70_000}

    assert robust.request("POST", "login", body).error == (413, "REQUEST_TOO_LARGE")
