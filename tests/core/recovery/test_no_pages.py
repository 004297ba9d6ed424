"""Without the pages module the address of a mailed link has no page, and takes no form."""

import pytest

pytestmark = pytest.mark.django_db

HTML = {"Accept": "text/html"}
FORM = "application/x-www-form-urlencoded"


@pytest.mark.parametrize("path", ["reset-password", "invitations/accept"])
def test_link_has_no_page(api, path):
    answer = api.get(f"{path}?token=x", headers=HTML)

    assert answer.error == (405, "METHOD_NOT_ALLOWED")
    assert answer.headers["Allow"] == "OPTIONS, POST"


@pytest.mark.parametrize("path", ["reset-password", "invitations/accept", "2fa/verify-login"])
def test_form_is_refused(api, path):
    answer = api.request("POST", path, "token=x", content_type=FORM, headers=HTML)

    assert answer.error == (415, "UNSUPPORTED_MEDIA_TYPE")


def test_error_is_json_for_a_browser_too(api):
    invalid = api.get("verify-email?token=x&email=ann@example.com", headers=HTML)

    assert invalid.error == (400, "INVALID_VERIFICATION_TOKEN")
    assert api.get("verify-email", headers=HTML).error == (400, "INVALID_VERIFICATION_TOKEN")
