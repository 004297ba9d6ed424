"""GET /verify-email redirects browsers to the front end that the settings name."""

import pytest

from tests.contract.shapes import is_refusal
from tests.support.flows import email_verified, verify_path

pytestmark = pytest.mark.django_db

FRONTEND = {"URL": "https://app.example.com", "VERIFY_EMAIL_CALLBACK_PATH": "/verified"}
GOOD = "https://app.example.com/verified?status=success"
BAD = "https://app.example.com/verified?status=error"


@pytest.fixture
def token(ann, flows):
    return flows.email_token()


@pytest.fixture
def _frontend(configure):
    configure(FRONTEND=FRONTEND)


def redirect(answer):
    return answer.status, answer.headers.get("Location")


@pytest.mark.usefixtures("_frontend")
def test_verify_email_with_a_valid_link_redirects_to_success(flows, token):
    assert redirect(flows.click(token)) == (302, GOOD)


@pytest.mark.usefixtures("_frontend")
def test_verify_email_with_a_valid_link_verifies_the_address(api, flows, ann, token):
    flows.click(token)

    assert email_verified(ann["access_token"], api)


@pytest.mark.usefixtures("_frontend")
def test_verify_email_on_a_second_click_redirects_to_success(flows, token):
    flows.click(token)

    assert redirect(flows.click(token)) == (302, GOOD)


@pytest.mark.usefixtures("_frontend")
@pytest.mark.parametrize(("text", "email"), [("A" * 43, "ann@example.com"), ("", ""), ("x", "y")])
def test_verify_email_with_an_invalid_link_redirects_to_error(flows, text, email):
    assert redirect(flows.click(text, email)) == (302, BAD)


@pytest.mark.usefixtures("_frontend")
def test_verify_email_with_an_expired_link_redirects_to_error(clock, ann, flows):
    token = flows.email_token()
    clock.forward(hours=24)

    assert redirect(flows.click(token)) == (302, BAD)


@pytest.mark.usefixtures("_frontend")
def test_verify_email_redirect_has_no_token_and_is_not_cached(flows, token):
    answer = flows.click(token)

    assert token not in answer.headers["Location"]
    assert answer.headers["Cache-Control"] == "no-store, private"
    assert answer.headers["Referrer-Policy"] == "no-referrer"


@pytest.mark.usefixtures("_frontend")
@pytest.mark.parametrize(
    "poison",
    [
        {"Host": "localhost"},
        {"X-Forwarded-Host": "evil.example"},
        {"Referer": "https://evil.example/"},
        {"Origin": "https://evil.example"},
    ],
    ids=str,
)
def test_verify_email_redirect_cannot_be_changed_by_a_header(flows, settings, token, poison):
    settings.USE_X_FORWARDED_HOST = True
    settings.ALLOWED_HOSTS = ["*"]

    assert redirect(flows.click(token, **poison)) == (302, GOOD)


@pytest.mark.usefixtures("_frontend")
@pytest.mark.parametrize("name", ["next", "redirect_to", "redirect_url", "status", "url"])
def test_verify_email_redirect_cannot_be_changed_by_a_parameter(api, token, name):
    added = f"{name}=https://evil.example"

    assert redirect(api.get(f"{verify_path(token)}&{added}")) == (302, GOOD)
    assert redirect(api.get(f"{verify_path('invalid')}&{added}")) == (302, BAD)


@pytest.mark.parametrize(
    "frontend",
    [
        {},
        {"URL": "https://app.example.com"},
        {"VERIFY_EMAIL_CALLBACK_PATH": "/verified"},
        {"URL": "", "VERIFY_EMAIL_CALLBACK_PATH": "/verified"},
        {"URL": "https://app.example.com", "VERIFY_EMAIL_CALLBACK_PATH": ""},
    ],
    ids=str,
)
def test_verify_email_without_both_frontend_settings_answers_json(
    flows, configure, token, frontend
):
    configure(FRONTEND=frontend)

    assert flows.click(token).data["status"] == "success"
    assert is_refusal(flows.click("A" * 43), 400, "INVALID_VERIFICATION_TOKEN")


@pytest.mark.parametrize(
    ("url", "path", "expected"),
    [
        ("https://app.example.com/", "verified", GOOD),
        ("https://app.example.com/de", "/verified", GOOD.replace(".com/", ".com/de/")),
        (
            "https://app.example.com",
            "/v?from=mail",
            "https://app.example.com/v?from=mail&status=success",
        ),
        ("https://app.example.com", "/#/v", "https://app.example.com/#/v?status=success"),
    ],
)
def test_verify_email_redirect_joins_origin_and_path_with_one_slash(
    flows, configure, token, url, path, expected
):
    configure(FRONTEND={"URL": url, "VERIFY_EMAIL_CALLBACK_PATH": path})

    assert redirect(flows.click(token)) == (302, expected)
