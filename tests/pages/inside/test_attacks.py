"""Attacks that once succeeded on the pages, each from the request to its result."""

import json
from datetime import timedelta
from urllib.parse import quote

import pytest
import time_machine
from django.contrib.auth import get_user_model
from django.http import HttpResponse
from django.utils import timezone
from django.views.debug import ExceptionReporter

from authservice.core.api import django_session
from authservice.core.login import login
from authservice.core.models import Session
from authservice.kernel.http import incoming
from authservice.organization.models import Membership
from authservice.pages import calls, login_pages
from tests.pages.inside.conftest import kept
from tests.pages.inside.person import ACCEPT, FORM
from tests.support.client import PASSWORD
from tests.support.flows import ANN, NEW, prove
from tests.twofactor import people

pytestmark = pytest.mark.django_db

EVIL = {"Origin": "https://evil.example", "Sec-Fetch-Site": "cross-site"}
DJANGO = "django.contrib.auth.backends.ModelBackend"


@pytest.mark.parametrize("path", ["/€", "/café", "/a b", "/%E2%82%AC", "/\u4e2d/?q=ö"])
@pytest.mark.parametrize("page", ["login", "signup"])
def test_next_page_of_any_script_fits_into_headers(path, page, person, ann):
    shown = person.visit(f"/auth/{page}?next={quote(path)}")

    cookie = shown.response.cookies["authservice_next"].value
    assert (shown.status, cookie.isascii()) == (200, True)
    if page == "login":
        sent = person.post(shown, identifier=ANN, password=PASSWORD)
        assert sent.location == cookie.rpartition(":")[0]


def test_next_page_of_another_project_on_this_host_is_ignored(person, ann, settings):
    """Browsers send a cookie to all ports of a host."""
    person.visit("/auth/login?next=/of-this-one")
    kept = person.client.cookies["authservice_next"].value
    for value, destination in {
        kept: "/of-this-one",
        "/of-another": "/auth/account",
        f"/of-another:{kept.rpartition(':')[2]}": "/auth/account",
    }.items():
        page = person.visit("/auth/login")
        person.client.cookies["authservice_next"] = value
        assert person.post(page, identifier=ANN, password=PASSWORD).location == destination
        person.client.cookies.pop("sessionid")


CRASHES = {
    "the session": (django_session, "_carry"),
    "after the route": (login_pages, "enter"),
    "before the route": (calls, "_quiet"),
    "in the route": (login, "with_password"),
}


def crash(*_, **__):
    raise RuntimeError("the store is broken")


def reports(caplog):
    """All that an error tracker or a mail to the administrators has."""
    records = [one for one in caplog.records if one.exc_info]
    assert records
    for one in records:
        yield ExceptionReporter(getattr(one, "request", None), *one.exc_info).get_traceback_html()
        yield ExceptionReporter(getattr(one, "request", None), *one.exc_info).get_traceback_text()


@pytest.mark.parametrize("place", CRASHES)
def test_no_report_of_a_crash_at_a_login_has_a_secret(place, person, ann, caplog, monkeypatch):
    person.client.raise_request_exception = False
    page = person.open("/auth/login")
    monkeypatch.setattr(*CRASHES[place], crash)

    sent = person.post(page, identifier=ANN, password=PASSWORD)

    assert sent.status == 500
    for report in reports(caplog):
        # The beginning of every access token of this service.
        assert [one for one in (PASSWORD, "eyJhbGci") if one in report] == []


@pytest.mark.parametrize(
    ("form", "typed"),
    [
        ("security/password", {"old_password": PASSWORD, "new_password": NEW}),
        ("security/factor", {"password": PASSWORD}),
        ("profile/email", {"email": "x@example.com", "password": PASSWORD}),
    ],
)
def test_no_report_of_a_crash_in_the_account_has_a_secret(
    form, typed, signed_in, caplog, monkeypatch
):
    signed_in.client.raise_request_exception = False
    page = signed_in.open(f"/auth/account/{form}")
    monkeypatch.setattr("authservice.pages.visitor.Visitor.go", crash)
    monkeypatch.setattr("authservice.pages.visitor.Visitor.show", crash)

    monkeypatch.setattr(
        "authservice.pages.visitor.Visitor.failed", lambda self, fault: HttpResponse(status=500)
    )
    signed_in.post(page, **typed)

    for report in reports(caplog):
        assert [one for one in (PASSWORD, NEW, "otpauth:") if one in report] == []


def test_form_of_another_site_is_not_shown_to_its_visitor(person, ann, api):
    """One click would sign the visitor in as the attacker."""
    mallory = people.Person(api, email="mallory@example.com").sign_up().enrol()
    fields = {
        "temp_token": mallory.temp_token(),
        "code": mallory.backup_codes[0],
        "next": "/orders",
    }

    forged = person.client.post(
        "/auth/2fa/verify-login",
        "&".join(f"{name}={quote(value)}" for name, value in fields.items()),
        content_type=FORM,
        headers={"Accept": ACCEPT, **EVIL},
    )
    assert (forged.status_code, forged.url) == (303, "/auth/login")
    for path in ("login", "signup", "magic-link/send"):
        shown = person.client.post(
            f"/auth/{path}",
            f"identifier=mallory&email=mallory%40example.com&password={PASSWORD}&name=Mallory",
            content_type=FORM,
            headers={"Accept": ACCEPT, **EVIL},
        )
        assert "allory" not in shown.content.decode()


def test_signed_out_is_said_to_nobody_who_is_signed_in(person, ann):
    person.client.force_login(get_user_model().objects.get(), backend=DJANGO)
    page = person.open("/auth/logout")
    assert page.heading == "Sign out?"

    page = person.send(page)

    assert (page.heading, person.name) == ("You are signed out", "")


def test_credentials_of_a_proxy_do_not_matter(signed_in):
    basic = {"Authorization": "Basic YTpi"}

    assert signed_in.visit("/auth/logout", **basic).heading == "Sign out?"
    assert signed_in.visit("/auth/account/security", **basic).heading == "Security"


def by_password(person, post):
    person.sign_in(ANN, PASSWORD)


def by_link(person, post):
    mail_to_ann(person)
    person.open(post.link("magic-link"))


def by_code(person, post):
    page = mail_to_ann(person)
    person.send(page, 0, code=post.code("magic-link"))


def mail_to_ann(person):
    return person.send(person.open("/auth/magic-link/send"), email=ANN)


@pytest.mark.parametrize("way", [by_password, by_link, by_code])
def test_user_who_is_not_to_be_remembered_gets_no_token_cookies(
    person, ann, post, token_cookies, way
):
    prove()

    way(person, post)

    assert person.name == "ann"
    assert not kept(person) & {"authservice_access", "authservice_refresh"}


def test_login_as_another_user_ends_the_session_of_the_token_cookies(
    person, ann, api, token_cookies
):
    bob = api.sign_up("bob@example.com")
    for name in ("access", "refresh"):
        person.client.cookies[f"authservice_{name}"] = bob[f"{name}_token"]
    assert person.name == "bob"

    page = person.open("/auth/login?again=1")
    person.send(page, identifier=ANN, password=PASSWORD)

    assert person.name == "ann"
    assert Session.objects.get(user=bob["user"]["id"]).end_reason == "logout"
    assert not kept(person) & {"authservice_access", "authservice_refresh"}


def test_form_larger_than_any_is_not_read(person, ann):
    page = person.open("/auth/login")

    sent = person.post(page, identifier=ANN, password="x" * (incoming.BODY_LIMIT + 1))

    assert sent.status == 413


def test_upload_is_no_form(person):
    sent = person.client.post("/auth/login", {"file": "x" * 100}, headers={"Accept": ACCEPT})

    assert sent.headers["Content-Type"] == "application/json"


def test_claims_of_a_session_age_as_those_of_a_token(signed_in):
    page = signed_in.open("/auth/account/organizations/create")
    page = signed_in.send(page, name="Acme")
    signed_in.send(signed_in.open(page.link("Switch")))
    assert signed_in.client.get("/claims").json()["org_role"] == "owner"
    Membership.objects.update(role="member")
    assert signed_in.client.get("/claims").json()["org_role"] == "owner"

    with time_machine.travel(timezone.now() + timedelta(minutes=16), tick=True):
        assert signed_in.client.get("/claims").json()["org_role"] == "member"
        assert signed_in.client.get("/claims").json()["org_slug"] == "acme"


def test_escaped_address_of_a_page_does_not_exist(person, ann):
    headers = {"Accept": ACCEPT}
    sent = person.client.get("/auth/login", headers=headers, REQUEST_URI="/auth/logi%6e")

    assert sent.status_code == 404


def test_notice_is_for_a_page_that_somebody_sees(signed_in):
    page = signed_in.open("/auth/account/profile/name")
    signed_in.post(page, name="Ann Lee")
    signed_in.client.head("/auth/account/profile", headers={"Accept": ACCEPT})
    signed_in.visit("/auth/account/profile", **{"Sec-Purpose": "prefetch"})

    assert signed_in.open("/auth/account/profile").notice == "Your name was changed."


def test_session_of_a_page_is_no_session_of_the_api(signed_in):
    row = Session.objects.latest("created_at")
    found = signed_in.client.get("/auth/me", headers={"Accept": "application/json"})

    assert json.loads(found.content)["data"]["code"] == "UNAUTHORIZED"
    assert row.ended_at is None
