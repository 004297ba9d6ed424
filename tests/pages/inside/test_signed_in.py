"""Signed in for Django: our session's row decides, whatever Django's own session says."""

from datetime import timedelta

import pytest
import time_machine
from django.contrib.auth import get_user_model
from django.contrib.auth.models import Group, Permission
from django.utils import timezone

from authservice.core.api import django_session
from authservice.core.models import Session
from authservice.core.sessions import revocation
from authservice.core.users import lookup
from authservice.kernel.modules import plugged
from authservice.organization.models import Membership
from authservice.pages.checks import check_pages
from tests.pages.inside.person import Person
from tests.support.client import PASSWORD
from tests.support.flows import ANN, NEW, prove
from tests.twofactor import people

pytestmark = pytest.mark.django_db

ENGINES = ("signed_cookies", "cache")
VIEWS = ("/whoami", "/whoami-async")


def user():
    return get_user_model().objects.get()


def newest():
    return Session.objects.latest("created_at")


def logged_out_elsewhere(api, flows):
    assert revocation.revoke_one(newest())


def all_ended(api, flows):
    revocation.revoke_users([user()])


def reset(api, flows):
    assert flows.reset(flows.reset_token()).status == 200


def password_set_by_host(api, flows):
    changed = user()
    changed.set_password(NEW)
    changed.save()


def suspended(api, flows):
    get_user_model().objects.update(is_active=False)


def deleted(api, flows):
    user().delete()


def factor_enabled_elsewhere(api, flows):
    person = people.Person(api, token=api.log_in()["access_token"], user_id=str(user().pk))
    person.enrol()


def row_deleted(api, flows):
    Session.objects.all().delete()


ENDS = (
    *(logged_out_elsewhere, all_ended, reset, password_set_by_host, suspended, deleted),
    *(factor_enabled_elsewhere, row_deleted),
)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("end", ENDS)
def test_next_request_is_anonymous(end, engine, settings, person, ann, api, flows):
    settings.SESSION_ENGINE = f"django.contrib.sessions.backends.{engine}"
    person.enter(ANN, PASSWORD)
    assert [person.visit(view).html for view in VIEWS] == ["ann", "ann"]

    end(api, flows)

    assert [person.visit(view).html for view in VIEWS] == ["", ""]
    assert person.visit("/orders").location == "/auth/login?next=/orders"
    assert person.visit("/invoices").status == 302
    assert person.visit("/auth/account/security").location.startswith("/auth/login?next=")


def no_staff():
    get_user_model().objects.update(is_staff=False)


def no_superuser():
    get_user_model().objects.update(is_superuser=False)


def no_group():
    user().groups.clear()


# What takes a right away, the rights before, the view that needs it, and its answer without it.
DEMOTIONS = (
    (no_staff, {"is_staff": True}, "/warehouse", 302),
    (no_superuser, {"is_superuser": True}, "/customers", 403),
    (no_group, {}, "/customers", 403),
)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(("demote", "rights", "view", "refused"), DEMOTIONS)
def test_right_that_was_taken_away_is_gone_on_the_next_request(
    demote, rights, view, refused, engine, settings, person, ann
):
    """The session remains: it proves who the user is, and Django's tools read the rights anew."""
    settings.SESSION_ENGINE = f"django.contrib.sessions.backends.{engine}"
    get_user_model().objects.update(**{"is_staff": False, **rights})
    if demote is no_group:
        group = Group.objects.create(name="support")
        group.permissions.add(Permission.objects.get(codename="view_user"))
        user().groups.add(group)
    person.enter(ANN, PASSWORD)
    assert person.visit(view).status == 200

    demote()

    assert person.visit(view).status == refused
    assert person.name == "ann"


def test_role_in_an_organization_that_was_taken_away_is_gone_on_the_next_request(
    signed_in, api, post
):
    """The claims of the session are older, but no page asks them."""
    prove()
    page = signed_in.open("/auth/account/organizations/create")
    page = signed_in.send(page, name="Acme")
    page = signed_in.send(signed_in.open(page.link("Switch")))
    page = signed_in.open(f"/auth/account/organizations{page.link('Open')}")
    invite = signed_in.open(page.link("Invite"))
    rename = signed_in.open(page.link("Rename"))

    Membership.objects.update(role="member")

    sent = signed_in.post(invite, email="bob@example.com", role="member")
    assert (sent.status, "org-invitation" in post.kinds()) == (403, False)
    assert signed_in.post(rename, name="Mallory").status == 403
    page = signed_in.open(page.url)
    assert (page.heading, "Acme" in page.text) == ("Organizations", True)
    assert [text for text in ("Invite", "Rename", "Delete") if f">{text}<" in page.html] == []
    assert signed_in.client.get("/claims").json()["org_role"] == "owner"


@pytest.mark.parametrize("view", ["/orders", "/invoices", "/whoami"])
def test_django_tools_know_the_user(view, signed_in):
    assert signed_in.visit(view).html.endswith("ann")


def test_login_required_middleware_knows_the_user(settings, person, ann):
    last = "django.contrib.auth.middleware.LoginRequiredMiddleware"
    settings.MIDDLEWARE = [*settings.MIDDLEWARE, last]
    assert person.visit("/whoami").location == "/auth/login?next=/whoami"

    person.sign_in(ANN, PASSWORD)

    assert person.name == "ann"


def test_view_gets_claims_of_the_session(signed_in):
    found = signed_in.client.get("/claims").json()

    assert (found["sub"], found["amr"]) == (str(user().pk), ["pwd"])
    assert not {"exp", "jti", "iss"} & set(found)


def test_one_query_finds_the_user(signed_in, django_assert_num_queries):
    with django_assert_num_queries(1):
        assert signed_in.name == "ann"


def test_visitor_costs_no_query(person, django_assert_num_queries):
    with django_assert_num_queries(0):
        assert person.name == ""


def test_without_middleware_nobody_is_signed_in(settings, person, ann):
    settings.MIDDLEWARE = [one for one in settings.MIDDLEWARE if "authservice" not in one]

    person.sign_in(ANN, PASSWORD)

    assert person.name == ""
    # Its own pages ask themselves.
    assert person.open("/auth/account/security").heading == "Security"


def test_api_does_not_accept_the_session(signed_in):
    assert signed_in.client.get("/auth/me").status_code == 401
    # 403 by the csrf module, before it asks who it is
    assert signed_in.client.post("/auth/logout", {}).status_code in (401, 403)
    assert signed_in.name == "ann"


def test_bearer_token_comes_first(signed_in, api):
    bob = api.sign_up("bob@example.com")["access_token"]

    found = signed_in.visit("/whoami", Authorization=f"Bearer {bob}")

    assert found.html == "bob"


def test_browser_gets_no_token(person, ann):
    page = person.open("/auth/login")

    sent = person.post(page, identifier=ANN, password=PASSWORD)

    assert {name for name in sent.response.cookies if "csrf" not in name} == {
        "sessionid",
        "authservice_device",
        "authservice_next",
    }
    assert all(sent.response.cookies[name]["httponly"] for name in ("sessionid",))
    assert "token" not in sent.html


def test_session_outlives_pauses_but_not_the_idle_timeout(settings, ann):
    with time_machine.travel(timezone.now(), tick=True) as clock:
        person = Person()
        person.enter(ANN, PASSWORD, remember="on")
        for _ in range(8):  # longer than the idle timeout of seven days altogether
            clock.shift(timedelta(days=1))
            assert person.name == "ann"

        clock.shift(timedelta(days=7, minutes=1))

        assert person.name == ""


def test_use_within_five_minutes_writes_nothing(signed_in, django_assert_num_queries):
    with time_machine.travel(timezone.now() + timedelta(minutes=6), tick=True):
        with django_assert_num_queries(2):  # reads, and moves the idle timeout
            assert signed_in.name == "ann"
        with django_assert_num_queries(1):
            assert signed_in.name == "ann"


def test_session_ends_at_its_maximum_lifetime(ann, configure):
    configure(SESSION_TTL=timedelta(days=2))
    with time_machine.travel(timezone.now(), tick=True) as clock:
        person = Person()
        person.enter(ANN, PASSWORD, remember="on")
        clock.shift(timedelta(days=1))
        assert person.name == "ann"

        clock.shift(timedelta(days=1, seconds=1))

        assert person.name == ""


@pytest.mark.parametrize(("remember", "lasts"), [("on", True), (None, False)])
def test_remembered_session_outlives_the_browser(remember, lasts, person, ann):
    person.sign_in(ANN, PASSWORD, remember=remember)

    assert bool(person.client.cookies["sessionid"]["max-age"]) == lasts


def test_login_gets_new_keys(settings, person, ann):
    """An attacker who fixed the session or the CSRF token of the visitor has nothing of it."""
    settings.SESSION_ENGINE = "django.contrib.sessions.backends.cache"
    session = person.client.session
    session["cart"] = "plums"
    session.save()
    person.client.cookies["sessionid"] = before = session.session_key
    page = person.open("/auth/login")
    token = person.client.cookies["csrftoken"].value

    person.send(page, identifier=ANN, password=PASSWORD)

    assert person.name == "ann"
    assert person.client.session["cart"] == "plums"  # as Django's own login keeps it
    assert person.client.cookies["sessionid"].value != before
    assert person.client.cookies["csrftoken"].value != token


def test_other_user_gets_nothing_of_the_session_before(signed_in, api):
    session = signed_in.client.session
    session["cart"] = "plums"
    session.save()
    signed_in.client.cookies["sessionid"] = session.session_key
    first = newest()
    api.sign_up("bob@example.com")

    page = signed_in.open("/auth/login?again=1")
    signed_in.send(page, identifier="bob@example.com", password=PASSWORD)

    assert signed_in.name == "bob"
    assert "cart" not in signed_in.client.session
    first.refresh_from_db()
    assert first.end_reason == "logout"


def test_login_of_django_takes_over(signed_in):
    signed_in.client.force_login(user(), backend="django.contrib.auth.backends.ModelBackend")

    assert signed_in.name == "ann"
    assert signed_in.client.get("/claims").json() == {}


def test_sign_in_page_says_why_it_asks_a_user_of_another_login(person, ann):
    person.client.force_login(user(), backend="django.contrib.auth.backends.ModelBackend")

    page = person.open("/auth/account")

    assert page.notice == (
        "Another login of this site has signed you in. Sign in here once to open your account."
    )
    page = person.send(page, identifier=ANN, password=PASSWORD)
    assert page.url.startswith("/auth/account")


def test_sign_in_page_says_nothing_of_another_login_to_others(person, signed_in):
    assert "Another login" not in person.open("/auth/login").html
    assert "Another login" not in signed_in.open("/auth/login?again=1").html


@pytest.mark.parametrize("end", ["/leave", "/auth/logout"])
def test_logout_of_either_kind_ends_the_row(end, signed_in, django_assert_num_queries):
    row = newest()
    page = signed_in.open("/auth/logout")

    if end == "/leave":
        page.url = end
    signed_in.post(page)

    row.refresh_from_db()
    assert (row.end_reason, signed_in.name) == ("logout", "")
    assert "_auth_user_id" not in signed_in.client.session


@pytest.mark.parametrize("minutes", [0, 16], ids=["as at the login", "with fresh claims"])
def test_user_of_the_request_stays_when_the_view_deletes_the_row(signed_in, minutes):
    with time_machine.travel(timezone.now() + timedelta(minutes=minutes), tick=True):
        assert signed_in.visit("/close-account").html == "ann"
        assert signed_in.name == ""


def test_no_request_renews_what_the_browser_has(signed_in):
    """So any number of tabs stay signed in at once."""
    kept = signed_in.client.cookies.copy()

    with time_machine.travel(timezone.now() + timedelta(days=1), tick=True):
        for _ in range(10):
            signed_in.client.cookies = kept.copy()
            assert signed_in.name == "ann"


def test_backend_authenticates_nobody(ann):
    backend = django_session.SessionBackend()

    assert backend.authenticate(None, username="ann", password=PASSWORD) is None
    assert backend.get_user(user().pk) is None
    assert lookup.get_person(user()).email == ANN


def ids():
    return [one.id for one in check_pages()]


def test_check_warns_of_missing_middleware(settings, configure):
    assert ids() == []
    settings.MIDDLEWARE = [one for one in settings.MIDDLEWARE if "authservice" not in one]
    assert ids() == ["authservice.W240"]
    configure(FRONTEND={"URL": "https://app.example.com"})
    assert ids() == []


def test_check_warns_of_middleware_before_that_of_django(settings):
    ours = "authservice.middleware.AuthserviceMiddleware"
    others = [one for one in settings.MIDDLEWARE if one != ours]
    settings.MIDDLEWARE = [ours, *others]

    assert ids() == ["authservice.W243"]


@pytest.mark.parametrize(
    ("url", "found"),
    [("/accounts/login/", ["authservice.W244"]), ("/orders", []), ("somewhere", [])],
)
def test_check_warns_of_a_login_url_that_was_forgotten(settings, configure, url, found):
    settings.LOGIN_URL = url
    assert ids() == found
    configure(FRONTEND={"URL": "https://app.example.com"})
    assert ids() == []


def test_check_warns_of_a_cookie_that_ends_before_the_session(settings, configure):
    settings.SESSION_COOKIE_AGE = 3600
    assert ids() == ["authservice.W246"]
    configure(REFRESH_TOKEN_TTL=timedelta(hours=1))
    assert ids() == []


def test_check_warns_if_no_app_sends_the_mails_that_pages_promise():
    with plugged("messenger", None):
        assert ids() == ["authservice.W245"]


def test_package_that_acts_as_another_user(signed_in, api):
    """As django-hijack does it: with the back end that it finds in Django's session."""
    api.sign_up("bob@example.com")
    bob = get_user_model().objects.get(username="bob")
    first = Session.objects.get(user__username="ann", method="password")
    signed_in.client.get(f"/act-as/{bob.pk}")

    assert signed_in.name == "bob"
    acting = Session.objects.get(user=bob, method="django")
    first.refresh_from_db()
    assert (acting.amr, first.end_reason) == ("legacy", "logout")
    revocation.revoke_one(acting)
    assert signed_in.name == ""


def test_package_cannot_act_as_a_suspended_user(signed_in, api):
    api.sign_up("bob@example.com")
    get_user_model().objects.filter(username="bob").update(is_active=False)
    bob = get_user_model().objects.get(username="bob")

    signed_in.client.get(f"/act-as/{bob.pk}")

    assert signed_in.name == ""
    assert not Session.objects.filter(method="django").exists()


def test_rest_view_knows_the_user_and_asks_for_the_csrf_token(signed_in):
    def ask(method, **headers):
        answer = getattr(signed_in.client, method)("/rest", headers=headers)
        return answer.status_code, answer.json().get("user", answer.json().get("code"))

    assert ask("get") == (200, "ann")
    assert ask("post") == (403, "INVALID_CSRF")
    signed_in.open("/auth/account/profile/name")
    token = signed_in.client.cookies["csrftoken"].value
    assert ask("post", **{"X-CSRFToken": token}) == (200, "ann")
    assert ask("post", **{"X-CSRFToken": token, "Origin": "https://evil.example"})[0] == 403
    revocation.revoke_one(newest())
    assert ask("get") == (200, "")


def test_page_that_is_not_for_the_account_is_not_opened_again_and_again(signed_in, api):
    """`permission_required` leads to the login also those who are signed in."""
    page = signed_in.open("/groups")

    assert (page.status, page.url) == (403, "/auth/login?next=/groups")
    assert "You are signed in as ann@example.com" in page.text
    assert signed_in.open("/orders").html == "orders of ann"

    api.sign_up("bob@example.com")
    bob = get_user_model().objects.get(username="bob")
    bob.user_permissions.add(Permission.objects.get(codename="add_group"))
    assert signed_in.send(page, identifier="bob@example.com", password=PASSWORD).html == (
        "groups of bob"
    )


def test_link_to_the_login_leads_on_each_time_that_it_is_followed(signed_in):
    for _ in range(3):
        assert signed_in.open("/auth/login?next=/orders").html == "orders of ann"
        signed_in.client.cookies.pop("authservice_sent_on")  # after ten seconds
