"""Views of a project for members of the active organization, opened by users of the pages."""

import sys
from urllib.parse import parse_qs, urlsplit

import pytest
from django.conf import settings
from django.test import override_settings
from django.utils.encoding import iri_to_uri

from authservice.core.models import Session
from authservice.core.sessions import revocation
from authservice.organization import active
from authservice.organization.models import Membership, Organization
from tests.pages.inside.person import Person
from tests.support.client import PASSWORD
from tests.support.flows import prove
from tests.support.people import the_user

pytestmark = pytest.mark.django_db

URLS = "tests.pages.inside.organization_urls"
SECTION = "/auth/account/organizations"
VIEWS = ("members", "admins", "exports", "members-async", "admins-async", "page", "page-async")
PAGES = ("/team/page", "/team/page-async")
each_view = pytest.mark.parametrize("path", [f"/team/{name}" for name in VIEWS])
each_page = pytest.mark.parametrize("path", PAGES)


@pytest.fixture(autouse=True, scope="module")
def _views(_pages):
    """Once, since the routes take longer to read than a test."""
    roles = {"ROLES": {"owner": {"permissions": ["reports.export"]}}}
    service = {**settings.AUTHSERVICE, "ORGANIZATION": roles}
    sys.modules.pop(URLS, None)  # its decorators read the roles
    with override_settings(AUTHSERVICE=service, ROOT_URLCONF=URLS):
        yield


@pytest.fixture
def acme(signed_in):
    """An organization that Ann owns, and which is not active."""
    acme = Organization.objects.create(name="Acme", slug="acme")
    Membership.objects.create(organization=acme, user=the_user("ann@example.com"), role="owner")
    return acme


@pytest.fixture
def switched(signed_in, acme):
    """Ann, who works for it."""
    signed_in.post(signed_in.open(f"{SECTION}/switch?id={acme.pk}"))
    return signed_in


def code(page):
    return page.status, page.response.json()["data"]["code"]


def assert_refused(person, path, error):
    """401 for a view of an API; a view that redirects leads to the login."""
    page = person.visit(path)
    if path in PAGES:
        assert page.location == f"/auth/login?next={path}"
    else:
        assert code(page) == (401, error)


@each_view
def test_owner_who_switched_on_the_page_reaches_the_view(path, switched):
    page = switched.visit(path)

    assert (page.status, page.response.json()) == (200, {"slug": "acme", "role": "owner"})
    assert "Cookie" in page.response.headers["Vary"]


@each_view
def test_role_is_read_in_each_request(path, switched):
    Membership.objects.update(role="member")

    page = switched.visit(path)

    if "member" in path or path == "/team/page-async":
        assert page.response.json()["role"] == "member"
    else:
        assert code(page) == (403, "ORG_INSUFFICIENT_ROLE")


@each_view
def test_session_that_has_ended_reaches_no_view(path, switched):
    revocation.revoke_one(Session.objects.latest("created_at"))

    assert_refused(switched, path, "INVALID_TOKEN")


@each_view
def test_user_whom_another_package_logged_in_is_nobody(path, acme):
    """Django's session names an owner, but no session of the service has an organization."""
    other = Person()
    other.visit(f"/django-login/{the_user('ann@example.com').pk}")
    assert other.name == "ann"

    assert_refused(other, path, "UNAUTHORIZED")


@each_view
def test_form_needs_the_token_of_django(path, switched):
    without = switched.client.post(path)
    switched.open("/auth/account/profile/name")
    token = switched.client.cookies["csrftoken"].value

    with_token = switched.client.post(path, headers={"X-CSRFToken": token})

    assert (without.status_code, with_token.status_code) == (403, 200)


@each_view
def test_bearer_token_comes_before_the_session(path, switched, api):
    bob = api.sign_up("bob@example.com")["access_token"]

    page = switched.visit(path, Authorization=f"Bearer {bob}")

    assert code(page) == (403, "ORG_NOT_MEMBER")


@each_page
def test_page_leads_to_the_choice_of_an_organization_and_back(path, signed_in, acme):
    page = signed_in.open(f"{path}?year=2026&month=5")
    assert (page.heading, page.url.split("?")[0]) == ("Organizations", SECTION)
    assert "Switch to the organization that you want to work for." in page.text

    form = signed_in.open(page.link("Switch"))
    opened = signed_in.send(form)

    assert opened.url == f"{path}?year=2026&month=5"
    assert opened.response.json() == {"slug": "acme", "role": "owner"}


@each_page
def test_parts_of_a_long_list_keep_the_page(path, signed_in, acme):
    for number in range(12):
        row = Organization.objects.create(name=f"Shop {number}", slug=f"shop-{number}")
        Membership.objects.create(organization=row, user=the_user("ann@example.com"))

    page = signed_in.open(path)
    page = signed_in.open(SECTION + page.link("Next"))

    assert parse_qs(urlsplit(page.link("Switch")).query)["next"] == [path]


@each_page
def test_visitor_of_the_page_signs_in_and_chooses(path, person, ann, api):
    acme = Organization.objects.create(name="Acme", slug="acme")
    Membership.objects.create(organization=acme, user=the_user("ann@example.com"), role="owner")

    page = person.open(path)
    page = person.send(page, identifier="ann@example.com", password=PASSWORD)
    page = person.send(person.open(page.link("Switch")))

    assert (page.url, page.status) == (path, 200)


def test_view_without_a_redirect_names_the_organizations(signed_in, acme):
    assert code(signed_in.visit("/team/members")) == (403, "ORG_NOT_ACTIVE")


@each_page
def test_client_with_a_token_is_not_led_away(path, signed_in, acme, api):
    token = api.log_in()["access_token"]

    assert code(signed_in.visit(path, Authorization=f"Bearer {token}")) == (403, "ORG_NOT_ACTIVE")


@each_page
def test_request_with_credentials_of_another_kind_is_not_led_away(path, signed_in, acme):
    assert code(signed_in.visit(path, Authorization="Basic YTpi")) == (403, "ORG_NOT_ACTIVE")


@each_page
def test_user_without_an_organization_is_led_to_the_page_that_creates_one(path, signed_in):
    page = signed_in.open(path)

    assert (page.heading, page.url.split("?")[0]) == ("Organizations", SECTION)
    assert "You belong to no organization yet." in page.text
    assert page.link("Create one")


@each_page
def test_user_who_may_not_create_an_organization_is_not_led_to_the_page(
    path, signed_in, acme, configure
):
    configure(ORGANIZATION={"WHO_MAY_CREATE": "super_admins"})
    assert signed_in.open(path).heading == "Organizations"
    Membership.objects.all().delete()

    assert signed_in.visit(path).status == 403


@each_page
def test_member_who_was_removed_is_led_to_the_page(path, switched):
    Membership.objects.all().delete()

    assert "You belong to no organization yet." in switched.open(path).text


def test_user_who_signs_up_for_a_page_is_led_to_the_page_of_organizations(person, db):
    page = person.open("/auth/signup?next=/team/page")
    page = person.send(page, email="new@example.com", password=PASSWORD)

    assert page.url == f"{SECTION}?next=/team/page"


def test_view_without_a_redirect_refuses_a_user_without_an_organization(signed_in):
    assert code(signed_in.visit("/team/members")) == (403, "ORG_NOT_MEMBER")


@each_page
def test_client_of_a_user_without_an_organization_is_not_led_away(path, signed_in, api):
    token = api.log_in()["access_token"]

    assert code(signed_in.visit(path, Authorization=f"Bearer {token}")) == (403, "ORG_NOT_MEMBER")


def test_switch_leads_to_no_other_site(signed_in, acme):
    form = signed_in.open(f"{SECTION}/switch?id={acme.pk}&next=https://evil.example/")

    assert signed_in.post(form).location == SECTION


def test_section_that_was_opened_by_itself_asks_for_nothing(signed_in, acme):
    assert (
        "Switch to the organization that you want to work for." not in signed_in.open(SECTION).text
    )


@each_view
def test_old_claims_that_a_concurrent_request_saved_do_not_switch_back(path, signed_in, acme):
    old = signed_in.client.cookies["sessionid"].value
    signed_in.post(signed_in.open(f"{SECTION}/switch?id={acme.pk}"))
    signed_in.client.cookies["sessionid"] = old

    assert signed_in.visit(path).response.json() == {"slug": "acme", "role": "owner"}
    assert "switch?id=" not in signed_in.open(SECTION).html


def test_former_member_chooses_among_the_others(switched, acme):
    other = Organization.objects.create(name="Other", slug="other")
    Membership.objects.create(organization=other, user=the_user("ann@example.com"))
    member = Membership.objects.get(organization=acme)
    active.forget_of(member)
    member.delete()

    assert code(switched.visit("/team/members")) == (403, "ORG_NOT_ACTIVE")


def test_switch_by_the_user_of_token_cookies_reaches_their_browser(person, ann, token_cookies):
    acme = Organization.objects.create(name="Acme", slug="acme")
    Membership.objects.create(organization=acme, user=the_user("ann@example.com"), role="owner")
    cookies = person.client.cookies
    for name in ("access", "refresh"):
        cookies[f"authservice_{name}"] = ann[f"{name}_token"]
    assert code(person.visit("/team/members")) == (403, "ORG_NOT_ACTIVE")
    assert person.open("/team/page").heading == "Organizations"

    page = person.send(person.open(f"{SECTION}/switch?id={acme.pk}"))

    assert ("Active" in page.text, "switch?id=" in page.html) == (True, False)
    assert person.visit("/team/members").response.json()["slug"] == "acme"
    assert cookies["authservice_refresh"].value == ann["refresh_token"]
    assert cookies["authservice_access"]["max-age"] == 900
    # Django's session carries nothing: it would outlive a logout of the cookies.
    del cookies["authservice_access"]
    assert person.name == ""


@pytest.fixture
def invited(signed_in, acme, post):
    """A new user who has accepted an invitation to Acme, and the page that says so."""

    def accept():
        prove()
        invite = signed_in.open(f"{SECTION}/invite?id={acme.pk}")
        signed_in.post(invite, email="bob@example.com", role="admin")
        bob = Person()
        return bob, bob.send(bob.open(post.link("org-invitation")), name="Bob", password=PASSWORD)

    return accept


def test_accepted_invitation_offers_the_switch(invited):
    bob, done = invited()
    page = bob.open(done.link("Your organizations"))
    bob.send(bob.open(page.link("Switch")))

    assert done.heading == "Invitation accepted"
    assert bob.visit("/team/admins").response.json() == {"slug": "acme", "role": "admin"}


@pytest.mark.parametrize("home", ["https://app.example.com/start?a=1", "https://app.example.com/é"])
def test_switch_after_an_invitation_leads_to_a_home_on_another_host(invited, settings, home):
    settings.LOGIN_REDIRECT_URL = home
    bob, done = invited()

    page = bob.open(done.link("Your organizations"))
    assert "Switch to the organization that you want to work for." in page.text
    switched = bob.post(bob.open(page.link("Switch")))

    assert switched.location == iri_to_uri(home)


@pytest.mark.parametrize(
    "url",
    [
        "https://app.example.com/",
        "https://app.example.com/start?a=1&b",
        "https://app.example.com/start?a=1#x",
        "https://app.example.com/start?a=1 ",
        "https://APP.example.com/start?a=1",
        "http://app.example.com/start?a=1",
        "//app.example.com/start?a=1",
        "https://evil.example/?https://app.example.com/start?a=1",
        "https://app.example.com.evil.example/start?a=1",
        "javascript:alert(1)",
    ],
)
def test_switch_leads_to_no_other_address_of_the_host_of_home(signed_in, acme, settings, url):
    settings.LOGIN_REDIRECT_URL = "https://app.example.com/start?a=1"
    form = signed_in.open(f"{SECTION}/switch?id={acme.pk}")

    assert signed_in.post(form, next=url).location == SECTION
