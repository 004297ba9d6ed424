"""GET /verify-email sends browsers on to the front end, wherever the settings say it is."""

import pytest

from tests.contract.shapes import is_refusal
from tests.recovery.flows import email_verified

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


def onward(answer):
    return answer.status, answer.headers.get("Location")


@pytest.mark.usefixtures("_frontend")
def test_a_good_link_leads_to_success(flows, token):
    assert onward(flows.click(token)) == (302, GOOD)


@pytest.mark.usefixtures("_frontend")
def test_a_good_link_verifies(api, flows, ann, token):
    flows.click(token)

    assert email_verified(ann["access_token"], api)


@pytest.mark.usefixtures("_frontend")
def test_a_second_click_leads_to_success(flows, token):
    flows.click(token)

    assert onward(flows.click(token)) == (302, GOOD)


@pytest.mark.usefixtures("_frontend")
@pytest.mark.parametrize(("text", "email"), [("A" * 43, "ann@example.com"), ("", ""), ("x", "y")])
def test_a_bad_link_leads_to_error(flows, text, email):
    assert onward(flows.click(text, email)) == (302, BAD)


@pytest.mark.usefixtures("_frontend")
def test_an_expired_link_leads_to_error(clock, ann, flows):
    token = flows.email_token()
    clock.forward(hours=24)

    assert onward(flows.click(token)) == (302, BAD)


@pytest.mark.usefixtures("_frontend")
def test_the_way_on_carries_no_secret_and_leaves_no_trace(flows, token):
    answer = flows.click(token)

    assert token not in answer.headers["Location"]
    assert answer.headers["Cache-Control"] == "no-store"
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
def test_no_header_changes_the_way_on(flows, settings, token, poison):
    settings.USE_X_FORWARDED_HOST = True
    settings.ALLOWED_HOSTS = ["*"]

    assert onward(flows.click(token, **poison)) == (302, GOOD)


@pytest.mark.usefixtures("_frontend")
@pytest.mark.parametrize("name", ["next", "redirect_to", "redirect_url", "status", "url"])
def test_no_parameter_changes_the_way_on(api, name):
    path = f"verify-email?token=A&email=B&{name}=https://evil.example"

    assert onward(api.get(path)) == (302, BAD)


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
def test_unless_both_settings_are_there_it_is_json(flows, configure, token, frontend):
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
def test_origin_and_path_are_joined_with_one_slash(flows, configure, token, url, path, expected):
    configure(FRONTEND={"URL": url, "VERIFY_EMAIL_CALLBACK_PATH": path})

    assert onward(flows.click(token)) == (302, expected)
