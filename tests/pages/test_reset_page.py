"""The link of a mail to set a password leads to a page that sets it."""

import re
import sys
from urllib.parse import quote_plus, urlencode

import pytest
from django.core.signals import got_request_exception
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.views.debug import ExceptionReporter

from authservice.core.messages import kinds
from authservice.core.models import Session
from tests.pages.reader import OTHER, SAME
from tests.support.client import PASSWORD, Api
from tests.support.flows import ANN, NEW
from tests.support.pages import assert_protected
from tests.twofactor.people import Person as Factor

pytestmark = pytest.mark.django_db


@pytest.fixture
def link(api, post, ann):
    api.post("forgot-password", email=ANN)
    return post.link(kinds.RESET_BY_LINK)


def can_log_in(api, password):
    return api.post("login", email=ANN, password=password).status == 200


def test_link_leads_to_a_page_that_sets_the_password(api, reader, link):
    page = reader.open(link)
    assert (page.status, page.heading) == (200, "Choose a new password")
    assert ANN in page.text

    done = reader.send(page, new_password=NEW)

    assert (done.status, done.heading) == (200, "Your password was changed")
    assert not done.has_form
    assert can_log_in(api, NEW)
    assert not can_log_in(api, PASSWORD)


def test_reset_by_the_page_ends_all_sessions(api, reader, link):
    reader.send(reader.open(link), new_password=NEW)

    assert not Session.objects.filter(ended_at=None).exists()


def test_opening_the_page_does_not_use_the_token(reader, link):
    for _ in range(3):
        assert reader.open(link).has_form

    assert reader.send(reader.open(link), new_password=NEW).status == 200


def test_form_has_a_label_and_hints_for_password_managers(reader, link):
    page = reader.open(link)

    field = page.inputs["new_password"]
    assert field["autocomplete"] == "new-password"
    assert f'<label for="{field["id"]}">' in page.html
    assert f'id="{field["aria-describedby"]}"' in page.html
    assert page.inputs["email"]["autocomplete"] == "username"


class Lenient:
    """A validator of the project that has no text for forms."""

    def validate(self, password, user=None):
        pass


def test_hint_lists_the_rules_of_the_service_and_of_the_project(reader, link, settings):
    settings.AUTHSERVICE = {**settings.AUTHSERVICE, "CORE": {"REQUIRE_DIGIT": True}}
    settings.AUTH_PASSWORD_VALIDATORS = [
        {"NAME": "django.contrib.auth.password_validation.NumericPasswordValidator"},
        {"NAME": f"{__name__}.Lenient"},
    ]

    hint = reader.open(link).text

    for rule in ("at least 8 characters", "have a digit", "digits only"):
        assert rule in hint


@pytest.mark.parametrize(("length", "named"), [(6, 8), (12, 12)])
def test_hint_names_the_stricter_minimum_length(reader, link, settings, length, named):
    settings.AUTH_PASSWORD_VALIDATORS = [
        {
            "NAME": "django.contrib.auth.password_validation.MinimumLengthValidator",
            "OPTIONS": {"min_length": length},
        }
    ]

    hint = reader.open(link).text

    assert re.findall(r"at least (\d+) characters", hint) == [str(named)]


def test_weak_password_shows_the_form_again_with_the_reason_at_the_field(reader, link):
    page = reader.send(reader.open(link), new_password="short")

    assert (page.status, page.heading) == (400, "Choose a new password")
    field = page.inputs["new_password"]
    assert field["aria-invalid"] == "true"
    assert "autofocus" in field
    assert "new_password-error" in field["aria-describedby"]
    assert "Must have at least 8 characters." in page.text
    assert "<title>Error:" in page.html
    assert "short" not in page.html.partition("<main>")[2].replace("too short", "")
    assert reader.send(page, new_password=NEW).status == 200


def test_used_link_says_so(reader, link):
    reader.send(reader.open(link), new_password=NEW)

    page = reader.open(link)

    assert (page.status, page.heading, page.has_form) == (400, "This link does not work", False)


def test_expired_link_says_so(clock, reader, link):
    clock.forward(hours=2)

    assert reader.open(link).heading == "This link has expired"


def test_form_that_was_open_too_long_says_so(clock, reader, link):
    page = reader.open(link)
    clock.forward(hours=2)

    assert reader.send(page, new_password=NEW).heading == "This link has expired"


@pytest.mark.parametrize("query", ["", "?token=", "?token=x", "?email=ann@example.com"])
def test_link_that_is_cut_off_says_so(reader, query):
    page = reader.open(f"/auth/reset-password{query}")

    assert (page.status, page.heading) == (400, "This link does not work")


def test_link_for_another_address_does_not_work(reader, link):
    assert reader.open(link.replace("ann%40", "bob%40")).status == 400


WITHOUT_FACTOR = [{"NAME": "authservice.validators.MinimumLengthWithoutFactor"}]


def test_rules_are_those_of_the_user_of_the_link(api, reader, ann, link, settings):
    """A user with a second factor needs no fifteen characters; no other link or address says so."""
    settings.AUTH_PASSWORD_VALIDATORS = WITHOUT_FACTOR
    lengths = re.compile(r"at least (\d+) characters")
    assert lengths.findall(reader.open(link).text) == ["15"]

    Factor(api, token=ann["access_token"], user_id=ann["user"]["id"]).enrol()

    page = reader.open(link)
    assert lengths.findall(page.text) == ["8"]
    assert lengths.findall(reader.open(link.replace("ann%40", "bob%40")).text) == []
    refused = reader.send(page, new_password="short")
    assert lengths.findall(refused.text) == ["8", "8"]  # the error, and the rules
    assert reader.send(refused, new_password="plumTrt9").heading == "Your password was changed"


def test_rules_of_the_user_cost_no_query_without_a_validator_that_asks(reader, link):
    with CaptureQueriesContext(connection) as captured:
        reader.open(link)

    assert len(captured) == 2, [query["sql"] for query in captured]  # the link, and its user


def test_page_is_protected(reader, link, configure):
    configure(FRONTEND={})
    page = reader.open(link)

    headers = page.response.headers
    headers["Content-Security-Policy"] = headers["Content-Security-Policy"].replace(
        "form-action 'self' ;", "form-action 'self' https://app.example.com;"
    )
    assert_protected(headers)
    assert page.html.count("<script") == 1
    assert "<script>" in page.html


def test_result_is_protected_too(reader, link):
    done = reader.send(reader.open(link), new_password=NEW)

    assert done.response.headers["Cache-Control"] == "no-store, private"
    assert "default-src 'none'" in done.response.headers["Content-Security-Policy"]


def test_address_in_the_link_is_escaped(reader, api, post):
    email = '"<b>"@example.com'
    query = urlencode({"token": "x", "email": email})

    assert "<b>" not in reader.open(f"/auth/reset-password?{query}").html


@pytest.mark.parametrize(
    "headers",
    [
        OTHER,
        {"Sec-Fetch-Site": "same-site"},
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
    ],
    ids=str,
)
def test_form_of_another_site_changes_nothing(api, reader, link, headers):
    page = reader.send(reader.open(link), headers=headers, new_password=NEW)

    assert (page.status, page.heading) == (200, "Choose a new password")
    assert can_log_in(api, PASSWORD)


@pytest.mark.parametrize("header", ["Sec-Purpose", "Purpose", "X-Moz"])
def test_prefetch_gets_no_page(reader, link, header):
    response = reader.open(link, **{header: "prefetch"}).response

    assert (response.status_code, response.content) == (503, b"")


def test_program_gets_json(api, link):
    path = link.partition("/auth/")[2]

    assert api.get(path).data == {"status": "confirm"}
    assert api.get("reset-password?token=x&email=a@b.example").error == (400, "INVALID_TOKEN")


def test_json_request_is_answered_in_json_as_before(api, reader, flows, link):
    token = link.partition("token=")[2].partition("&")[0]

    answer = flows.reset(token)

    assert (answer.status, answer.data["message"]) == (
        200,
        "Password reset. All sessions have ended.",
    )


def test_form_of_a_program_is_answered_in_json(reader, link):
    done = reader.send(reader.open(link), accept="*/*", headers={}, new_password=NEW)

    assert done.response.headers["Content-Type"] == "application/json"


def test_flood_limit_is_a_page_with_the_wait(clock, reader, link, configure):
    configure(THROTTLE={"RATES": {"default": "1/d"}})
    reader.open(link)

    page = reader.open(link)

    assert (page.status, page.heading) == (429, "Too many requests")
    assert int(page.response.headers["Retry-After"]) > 0


def test_crash_is_a_page_without_the_secret(reader, link, monkeypatch):
    page = reader.open(link)
    reader.client.raise_request_exception = False
    monkeypatch.setattr("authservice.core.recovery.password_reset._reset", lambda *_, **__: 1 / 0)

    crashed = reader.send(page, new_password=NEW)

    assert (crashed.status, crashed.heading) == (500, "Something went wrong")
    assert crashed.response.headers["X-Request-ID"]


def test_crash_reports_no_password_and_no_token(reader, link, monkeypatch):
    page = reader.open(link)
    reader.client.raise_request_exception = False
    monkeypatch.setattr("authservice.core.recovery.password_reset._reset", lambda *_, **__: 1 / 0)
    reports = []

    def report(request, **_):
        reporter = ExceptionReporter(request, *sys.exc_info())
        reports.append(reporter.get_traceback_html() + reporter.get_traceback_text())

    got_request_exception.connect(report)
    reader.send(page, new_password=NEW)
    got_request_exception.disconnect(report)

    (html,) = reports
    assert "ZeroDivisionError" in html
    assert NEW not in html
    assert quote_plus(NEW) not in html
    assert page.values["token"] not in html


@pytest.mark.parametrize("field", ["email", "token"])
@pytest.mark.parametrize("headers", [SAME, OTHER], ids=str)
def test_text_that_is_slow_to_normalise_is_refused_before_it_is_normalised(
    reader, link, monkeypatch, field, headers
):
    """To show a refused form again, its link is looked up by the fields of the form."""
    page, looked_up = reader.open(link), []
    monkeypatch.setattr(
        "authservice.core.recovery.password_reset.require_open", lambda *given: looked_up.append(1)
    )

    slow = "a" + "\u0301" * 9_000
    refused = reader.send(page, headers=headers, **{"new_password": NEW, field: slow})

    assert refused.status == 400
    assert looked_up == []


def test_json_request_needs_the_csrf_token_as_before(flows, link, settings):
    token = link.partition("token=")[2].partition("&")[0]
    body = {"token": token, "email": ANN, "new_password": NEW}

    answer = Api(paired=False).request("POST", "reset-password", body)

    guarded = "authservice.csrf" in settings.INSTALLED_APPS
    assert answer.error == ((403, "INVALID_CSRF") if guarded else (200, ""))


def test_front_end_gets_the_links_where_one_is_set(api, post, ann, configure):
    configure(FRONTEND={"URL": "https://app.example.com"})
    api.post("forgot-password", email=ANN)

    assert post.link(kinds.RESET_BY_LINK).startswith(
        "https://app.example.com/reset-password?token="
    )
