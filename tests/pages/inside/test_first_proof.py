"""A signed-in user who proves the own address keeps what they have set up, on every route.

The three ways to be signed in are an access token in the header, one in a cookie, and a session
that Django's session carries, as users of the pages have. What a first proof removes otherwise is
in `tests/magiclink/test_takeover.py` and its neighbours.
"""

import json
from urllib.parse import parse_qsl, urlencode, urlsplit

import pytest
from django.conf import settings
from django.test import Client, TestCase

from authservice.core.models import PhoneSource, Session
from authservice.core.sessions import revocation
from authservice.csrf.guard import issue
from authservice.invitation.platform_invitations import KIND
from authservice.oauth.models import LinkedAccount
from authservice.oauth.state import COOKIES
from authservice.organization.models import Membership, Organization
from authservice.passkeys.models import Passkey
from tests.oauth.browsing import profile
from tests.oauth.in_process import SETTINGS, office
from tests.pages.inside.person import FORM, Person
from tests.pages.inside.test_passkeys import add
from tests.passkeys.authenticator import Authenticator
from tests.support.client import PASSWORD
from tests.support.flows import ANN, NEW, PHONE, account, prove
from tests.support.mounted import mounted
from tests.support.people import the_user

pytestmark = pytest.mark.django_db

BOB = "bob@example.com"
HERE = {"Sec-Fetch-Site": "same-origin", "Sec-Fetch-Mode": "navigate"}
ELSEWHERE = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}
SIBLING = {"Sec-Fetch-Site": "same-site", "Sec-Fetch-Mode": "cors"}
SILENT = {}  # an old browser, or one over plain HTTP, does not say which page sends the request
OWN_ORIGIN = {"Origin": "http://testserver"}


@pytest.fixture(autouse=True, scope="module")
def _pages():
    """Without the csrf module, which could refuse a request too."""
    with mounted():
        yield


@pytest.fixture(autouse=True)
def _provider(settings):
    office.reset()
    providers = {"acme": SETTINGS, "posting": {**SETTINGS, "FORM_POST": True}}
    settings.AUTHSERVICE = {**settings.AUTHSERVICE, "OAUTH": {"PROVIDERS": providers}}


class Browser:
    """A client that sends `headers` with each request, and a CSRF token with JSON."""

    def __init__(self, client=None):
        self.client, self.headers, self.session_id = client or Client(), dict(HERE), None

    def get(self, path, query):
        return self._send("GET", f"{path}?{urlencode(query)}", b"", "")

    def form(self, path, fields):
        return self._send("POST", path, urlencode(fields), FORM)

    def json(self, path, fields):
        return self._send("POST", path, json.dumps(fields), "application/json")

    def _send(self, method, path, body, content_type):
        sent = {"Accept": "text/html", **self.headers}
        if self.session_id:
            sent["X-CSRF-Token"] = self.client.cookies["__service_csrf"] = issue(self.session_id)
        if content_type == "application/json":
            sent["Accept"] = content_type
        with TestCase.captureOnCommitCallbacks(execute=True):
            return self.client.generic(
                method, f"/auth/{path}", body, content_type=content_type, headers=sent
            )


@pytest.fixture
def ann(api, post):
    """Ann, whose address is not proven, with a number of her sign-up; her tokens."""
    signed_up = api.sign_up(phone_number=PHONE)
    post.jobs.clear()
    return signed_up


@pytest.fixture
def by_header(ann):
    browser = Browser()
    browser.headers["Authorization"] = f"Bearer {ann['access_token']}"
    return browser


@pytest.fixture
def by_cookie(ann, token_cookies):
    browser = Browser()
    browser.client.cookies["authservice_access"] = ann["access_token"]
    browser.session_id = Session.objects.get().pk
    return browser


@pytest.fixture
def by_django(ann):
    person = Person()
    person.enter(ANN, PASSWORD)
    assert person.name == "ann"
    return Browser(person.client)


@pytest.fixture(params=["by_header", "by_cookie", "by_django"])
def browser(request):
    return request.getfixturevalue(request.param)


def kept(email=ANN):
    """Whether the account has the number of the sign-up, with what it is worth. A first proof by
    somebody else removes it, or only its worth if it can remove nothing."""
    row = account(email)
    return (row.phone_number, row.phone_set_by) == (PHONE, PhoneSource.SIGNUP)


# The routes that prove an address: functions of the API, the mails, and the browser that proves.


def magic_link(api, post, browser):
    api.post("magic-link/send", email=ANN)
    return browser.form("magic-link/verify", {"token": post.token("magic-link")})


def followed_magic_link(api, post, browser):
    api.post("magic-link/send", email=ANN)
    browser.headers["Accept"] = "application/json"
    return browser.get("magic-link/verify", {"token": post.token("magic-link")})


def magic_code(api, post, browser):
    api.post("magic-link/send", email=ANN)
    return browser.json("magic-link/verify-code", {"email": ANN, "code": post.code("magic-link")})


def _begun(browser, name):
    consent = browser.get(f"oauth/{name}", {}).headers["Location"]
    return dict(parse_qsl(urlsplit(office.approve(consent, profile())).query))


def provider(api, post, browser):
    return browser.get("oauth/acme/callback", _begun(browser, "acme"))


def provider_that_posts(api, post, browser):
    """Browsers send no `Lax` cookie with its form, only that of the flow."""
    fields = _begun(browser, "posting")
    of_provider = Browser()
    of_provider.headers = ELSEWHERE
    flows = (name for name in browser.client.cookies if name.startswith(COOKIES))
    for name in flows:
        of_provider.client.cookies[name] = browser.client.cookies[name].value
    return of_provider.form("oauth/posting/callback", fields)


def provider_of_an_app(api, post, browser):
    nonce = api.post("oauth/acme/nonce").data["nonce"]
    body = {"id_token": office.id_token(profile(), nonce), "nonce": nonce}
    return browser.json("oauth/acme/token", body)


def _reset(api, post):
    api.post("forgot-password", email=ANN)
    return {"token": post.token("reset-link"), "email": ANN, "new_password": NEW}


def reset_form(api, post, browser):
    return browser.form("reset-password", _reset(api, post))


def reset(api, post, browser):
    return browser.json("reset-password", _reset(api, post))


def verification(api, post, browser):
    api.post("send-verification-email", email=ANN)
    fields = {"token": post.token("verify-email"), "email": ANN, "decision": "confirm"}
    return browser.form("verify-email", fields)


def _invited(api, post):
    bob = api.sign_up(BOB, username="bob")
    prove(BOB)
    api.post("invitations", token=bob["access_token"], email=ANN)
    return {"token": post.token(KIND)}


def invitation_form(api, post, browser):
    return browser.form("invitations/accept", _invited(api, post))


def invitation(api, post, browser):
    return browser.json("invitations/accept", _invited(api, post))


def _invited_to_organization(api, post):
    bob = api.sign_up(BOB, username="bob")
    prove(BOB)
    acme = Organization.objects.create(name="Acme", slug="acme")
    Membership.objects.create(organization=acme, user=the_user(BOB), role="owner")
    body = {"email": ANN, "role": "member"}
    api.post(f"org/{acme.pk}/invite", token=bob["access_token"], **body)
    return {"token": post.token("org-invitation")}


def organization_form(api, post, browser):
    return browser.form("org/invitations/accept", _invited_to_organization(api, post))


def organization(api, post, browser):
    return browser.json("org/invitations/accept", _invited_to_organization(api, post))


LINKS = (followed_magic_link, provider)
POSTED = (provider_that_posts,)
FORMS = (magic_link, reset_form, verification, invitation_form, organization_form)
JSON = (magic_code, provider_of_an_app, reset, invitation, organization)
ROUTES = (*LINKS, *POSTED, *FORMS, *JSON)


@pytest.mark.parametrize("route", ROUTES)
def test_signed_in_user_keeps_what_the_account_has(route, browser, api, post):
    response = route(api, post, browser)

    assert response.status_code in (200, 303)
    assert account().proven_email_key
    assert kept()


@pytest.mark.parametrize("route", ROUTES)
def test_nobody_keeps_nothing(route, ann, api, post):
    """The owner of the address does not have the session of the intruder."""
    route(api, post, Browser())

    assert account().proven_email_key
    assert not kept()


@pytest.mark.parametrize("route", ROUTES)
def test_session_of_another_user_keeps_nothing(route, ann, api, post):
    """A victim who opens the link of an attacker proves nothing for the account of the attacker."""
    api.sign_up("eve@example.com", username="eve")
    eve = Person()
    eve.enter("eve@example.com", PASSWORD)
    assert eve.name == "eve"

    route(api, post, Browser(eve.client))

    assert account().proven_email_key
    assert not kept()


@pytest.mark.parametrize("route", ROUTES)
def test_session_whose_cookie_a_sibling_host_planted_keeps_nothing(
    route, by_django, ann, api, post
):
    """The intruder, who has signed up with the address, sets the cookie of Django's session for the
    whole domain; the device cookie of a login is bound to this host."""
    victim = Browser()
    name = settings.SESSION_COOKIE_NAME
    victim.client.cookies[name] = by_django.client.cookies[name].value

    route(api, post, victim)

    assert account().proven_email_key
    assert not kept()


def test_session_that_ended_since_the_start_keeps_nothing(by_django, api, post, monkeypatch):
    approve = office.approve

    def late(*arguments):
        revocation.revoke_users([the_user()])
        return approve(*arguments)

    monkeypatch.setattr(office, "approve", late)
    provider_that_posts(api, post, by_django)

    assert account().proven_email_key
    assert not kept()


def test_ended_session_keeps_nothing(by_django, api, post):
    revocation.revoke_users([the_user()])

    magic_link(api, post, by_django)

    assert account().proven_email_key
    assert not kept()


@pytest.mark.parametrize("route", [magic_link, reset_form, magic_code])
def test_post_request_that_says_by_its_origin_where_it_is_from_counts(route, by_django, api, post):
    by_django.headers = OWN_ORIGIN
    route(api, post, by_django)

    assert kept()


@pytest.mark.parametrize("route", [*FORMS, *JSON])
def test_cookie_of_django_in_a_post_request_of_unknown_origin_keeps_nothing(
    route, by_django, api, post
):
    by_django.headers = SILENT
    route(api, post, by_django)

    assert account().proven_email_key
    assert not kept()


@pytest.mark.parametrize("headers", [ELSEWHERE, SIBLING])
@pytest.mark.parametrize("route", [magic_code, reset, invitation])
def test_cookie_of_django_in_a_request_of_another_site_keeps_nothing(
    route, headers, by_django, api, post
):
    by_django.headers = headers
    route(api, post, by_django)

    assert account().proven_email_key
    assert not kept()


@pytest.mark.parametrize("browser", ["by_cookie", "by_django"], indirect=True)
@pytest.mark.parametrize("route", FORMS)
def test_form_of_another_site_proves_nothing(route, browser, api, post):
    browser.headers = ELSEWHERE
    route(api, post, browser)

    assert not account().proven_email_key
    assert kept()


@pytest.mark.parametrize("headers", [ELSEWHERE, SILENT])
@pytest.mark.parametrize("route", LINKS)
def test_link_that_is_opened_in_a_mailbox_counts(route, headers, by_django, api, post):
    by_django.headers = dict(headers)
    route(api, post, by_django)

    assert account().proven_email_key
    assert kept()


@pytest.mark.parametrize("route", LINKS)
def test_cookie_of_django_in_a_request_of_a_script_keeps_nothing(route, by_django, api, post):
    if route is provider:
        query = _begun(by_django, "acme")
        by_django.headers = {"Sec-Fetch-Mode": "cors"}
        by_django.get("oauth/acme/callback", query)
    else:
        by_django.headers = {"Sec-Fetch-Mode": "cors"}
        route(api, post, by_django)

    assert account().proven_email_key
    assert not kept()


@pytest.mark.parametrize("route", [reset_form, invitation_form, organization_form])
def test_token_cookie_in_a_form_of_unknown_origin_keeps_nothing(route, by_cookie, api, post):
    by_cookie.headers = SILENT
    route(api, post, by_cookie)

    assert account().proven_email_key
    assert not kept()


def test_password_of_a_proxy_does_not_hide_the_session(by_django, api, post):
    by_django.headers["Authorization"] = "Basic c3RhZ2luZzpzdGFnaW5n"

    magic_link(api, post, by_django)

    assert kept()


def test_token_of_an_ended_session_counts_before_the_cookie_of_django(by_django, api, post):
    ended = api.log_in()
    api.post("logout", token=ended["access_token"])
    by_django.headers["Authorization"] = f"Bearer {ended['access_token']}"

    magic_link(api, post, by_django)

    assert account().proven_email_key
    assert not kept()


def test_signed_in_user_who_changes_the_address_keeps_the_worth_of_the_number(browser, api, post):
    """In a browser that has not asked for the change."""
    assert moved(browser, api, post)


def test_nobody_who_changes_the_address_does_not(ann, api, post):
    assert not moved(Browser(), api, post)


def moved(browser, api, post):
    token, email = api.log_in()["access_token"], "ann@example.org"
    api.post("change-email", token=token, email=email, password=PASSWORD)
    response = browser.form("change-email/confirm", {"token": post.token("change-email")})
    assert response.status_code == 200
    return kept(email)


def by_link(person, post):
    page = person.open(person.open("/auth/login?again=1").link("Send me a link instead"))
    person.send(page, email=ANN)
    person.open(post.link("magic-link"))


def by_code(person, post):
    page = person.open(person.open("/auth/login?again=1").link("Send me a link instead"))
    page = person.send(page, email=ANN)
    person.send(page, 0, code=post.code("magic-link"))


def come_back(person, **user):
    """Sign in with the provider, by its button on the page."""
    page = person.open("/auth/login?again=1")
    url = next(link for link in page.links if link.startswith("/auth/oauth/acme"))
    person.open(office.approve(person.visit(url).location, profile(**user)))


def by_provider(person, post):
    come_back(person)


@pytest.mark.parametrize("way", [by_link, by_code, by_provider])
def test_user_of_the_pages_who_signs_in_again_keeps_the_password(way, signed_in, post):
    way(signed_in, post)

    assert signed_in.name == "ann"
    assert account().proven_email_key
    assert the_user().check_password(PASSWORD)


def test_user_of_the_pages_who_confirms_the_address_gets_no_notice_of_earlier_access(
    signed_in, post
):
    signed_in.send(signed_in.open("/auth/account/profile/confirm-email"))

    signed_in.send(signed_in.open(post.link("verify-email")), 0)

    assert account().proven_email_key
    assert "email-confirmed" not in post.kinds()
    assert kept()


def test_user_of_the_pages_who_sets_a_password_keeps_the_provider_and_the_passkey(person, post):
    """By the form of the account, for a user of a provider that verifies no address."""
    come_back(person, email_verified=False)
    assert add(person, Authenticator()).notice == "The passkey was added."
    person.send(person.open("/auth/account/security/set-password"))

    person.send(person.open(post.link("reset-link")), 0, new_password=NEW)

    assert account().proven_email_key
    assert (Passkey.objects.count(), LinkedAccount.objects.count()) == (1, 1)
