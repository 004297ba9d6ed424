"""A middleware that has read the request before us takes nothing away from the answer."""

import pytest
from django.conf import settings

from tests.client import PASSWORD

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.skipif(
        not any("tests.hosts.readers" in name for name in settings.MIDDLEWARE),
        reason="this host reads nothing before us",
    ),
]
FORM = "application/x-www-form-urlencoded"
PARTS = "multipart/form-data; boundary=x"
MULTIPART = b'--x\r\nContent-Disposition: form-data; name="email"\r\n\r\nann\r\n--x--\r\n'


def test_json_is_read_all_the_same(api):
    api.sign_up()

    assert api.post("login", email="ann@example.com", password=PASSWORD).status == 200


@pytest.mark.parametrize(("kind", "body"), [(FORM, b"email=ann"), (PARTS, MULTIPART)])
@pytest.mark.parametrize("path", ["signup", "login", "refresh"])
def test_a_form_is_as_unsupported_as_ever(robust, path, kind, body):
    answer = robust.request("POST", path, body, content_type=kind)

    assert answer.error == (415, "UNSUPPORTED_MEDIA_TYPE")


def test_a_broken_form_is_unsupported_too(robust):
    answer = robust.request("POST", "login", b"no parts", content_type=PARTS)

    assert answer.error == (415, "UNSUPPORTED_MEDIA_TYPE")


def test_too_much_is_too_much(robust):
    body = {"email": "ann@example.com", "password": "x" * 70_000}

    assert robust.request("POST", "login", body).error == (413, "REQUEST_TOO_LARGE")
