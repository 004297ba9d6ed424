"""The link of an invitation leads to a page, for people with and without an account."""

import pytest

from authservice.core.models import Session
from tests.invitation.invites import BOB, Invites
from tests.pages.reader import OTHER
from tests.support.client import PASSWORD
from tests.support.flows import prove
from tests.support.messenger.post import query
from tests.support.people import the_user, users
from tests.twofactor.people import Person

pytestmark = pytest.mark.django_db

NEW = {"name": "Bob", "password": PASSWORD}


@pytest.fixture
def invites(api, post, ann):
    prove()
    return Invites(api, post, ann["access_token"])


@pytest.fixture
def link(invites, post):
    invites.mailed()
    return post.link("invitation")


@pytest.fixture
def bob(api, post, invites):
    """Bob, whose address is proven."""
    bob = Person(api, BOB).sign_up()
    prove(BOB)
    return bob


def bobs_sessions():
    return Session.objects.filter(user=the_user(BOB), ended_at=None).count()


def test_new_person_chooses_a_name_and_a_password(api, reader, link):
    page = reader.open(link)
    assert (page.status, page.heading) == (200, "Accept the invitation")
    assert BOB in page.text
    assert {"token", "name", "password"} <= set(page.inputs)

    done = reader.send(page, **NEW)

    assert (done.status, done.heading) == (200, "Invitation accepted")
    assert api.post("login", email=BOB, password=PASSWORD).data["user"]["email_verified"]


def test_person_with_an_account_needs_a_button_only(bob, reader, link):
    page = reader.open(link)
    assert set(page.inputs) == {"token"}

    done = reader.send(page)

    assert (done.status, done.heading) == (200, "Invitation accepted")


def test_session_whose_tokens_are_lost_is_ended(bob, reader, link):
    before = bobs_sessions()

    reader.send(reader.open(link))

    assert bobs_sessions() == before


def test_page_of_a_user_with_a_second_factor_announces_its_code(bob, reader, link):
    bob.enrol()

    done = reader.send(reader.open(link))

    assert (done.status, done.heading) == (200, "Invitation accepted")
    assert "You will be asked for its code when you sign in." in done.text
    assert reader.open(link).heading == "This invitation is closed"


def test_missing_name_and_weak_password_show_the_form_again(reader, link):
    page = reader.send(reader.open(link), password=PASSWORD)
    assert page.status == 400
    assert page.inputs["name"]["aria-invalid"] == "true"

    page = reader.send(page, name="Bob <b>", password="short")

    assert page.status == 400
    assert page.inputs["password"]["aria-invalid"] == "true"
    assert page.values["name"] == "Bob <b>"
    assert "Bob <b>" not in page.html
    assert "value" not in page.inputs["password"]
    assert users() == 1


@pytest.mark.parametrize("password", ["short", ""])
def test_missing_name_and_weak_password_are_shown_together(password, reader, link):
    page = reader.send(reader.open(link), name=" ", password=password)

    assert [name for name, one in page.inputs.items() if "aria-invalid" in one] == [
        "name",
        "password",
    ]
    assert "Please correct the marked fields." in page.text


def test_form_of_another_site_accepts_nothing(bob, reader, link):
    page = reader.send(reader.open(link), headers=OTHER)

    assert page.has_form
    assert reader.send(page).heading == "Invitation accepted"


@pytest.mark.parametrize("change", ["declined", "cancelled"])
def test_closed_invitation_says_so(reader, invites, change):
    invitation = invites.sent()
    link = invites.post.link("invitation")
    if change == "declined":
        invites.decline(query(link)["token"])
    else:
        invites.cancel(invitation)

    page = reader.open(link)

    assert (page.status, page.heading) == (400, "This invitation is closed")


def test_unknown_invitation_does_not_work(reader):
    page = reader.open("/auth/invitations/accept?token=x")

    assert (page.status, page.heading, page.has_form) == (404, "This link does not work", False)


def test_unknown_tokens_are_limited(clock, reader, configure):
    for _ in range(101):
        page = reader.open("/auth/invitations/accept?token=x")

    assert page.status == 429


def test_inactive_person_is_refused_in_words(bob, reader, link):
    page = reader.open(link)
    user = the_user(BOB)
    user.is_active = False
    user.save()

    refused = reader.send(page)

    assert (refused.status, refused.heading) == (403, "This did not work")
    assert "active" in refused.text


def test_program_gets_json(api, link):
    assert api.get(link.partition("/auth/")[2]).data == {"status": "confirm"}


def test_token_of_another_session_in_a_cookie_is_no_obstacle(bob, reader, link, configure):
    configure(COOKIES={"ENABLED": True})
    reader.client.cookies["authservice_access"] = bob.token

    assert reader.send(reader.open(link)).heading == "Invitation accepted"
