"""The page of a link has a button exactly if the button works, for every kind of link."""

from urllib.parse import urlsplit

import pytest

from authservice.core.api.link_endpoint import LinkEndpoint
from authservice.core.messages import kinds
from authservice.core.models import OneTimeToken
from tests.core.own_account.owner import Owner, without_password
from tests.invitation.invites import NEW_PROFILE
from tests.pages.reader import SAME, Reader
from tests.support.flows import ANN, NEW, PHONE, prove
from tests.support.messenger.post import query
from tests.support.routes import endpoints

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.once,
    # The csrf module changes none of this.
    pytest.mark.parametrize("_pages", ["plain"], indirect=True, scope="module"),
]
EVE = "eve@example.com"


def reset(owner):
    owner.api.post("forgot-password", email=ANN)


def verify(owner):
    owner.api.post("send-verification-email", email=ANN)


def sign_in(owner):
    owner.api.post("magic-link/send", email=ANN)


def invite(owner):
    prove()
    owner.api.post("invitations", token=owner.token, email="bob@example.com")


def delete(owner):
    prove()
    without_password(owner).ask("DELETE", "me", password=None)


def change_email(owner):
    prove()
    owner.move(EVE)


def change_number(owner):
    prove()
    owner.ask("PUT", "profile", phone=PHONE)


# Of each route: what sends its link, the kind of the mail, and what the user types into the form.
LINKS = {
    "verify-email": (verify, kinds.VERIFY_EMAIL, {"decision": "confirm"}),
    "reset-password": (reset, kinds.RESET_BY_LINK, {"new_password": NEW}),
    "account/secure": (change_number, kinds.PHONE_CHANGED, {}),
    "account/delete": (delete, kinds.DELETE_ACCOUNT, {}),
    "change-email/confirm": (change_email, kinds.CHANGE_EMAIL, {}),
    "magic-link/verify": (sign_in, "magic-link", {}),
    "invitations/accept": (invite, "invitation", NEW_PROFILE),
}


def rows():
    return list(OneTimeToken.objects.order_by("pk").values())


@pytest.fixture(params=LINKS)
def mailed(request, clock, configure, api, post, ann):
    """The link in a mail, and what its form asks for."""
    configure(CORE={"ALLOW_SELF_DELETE": True})
    send, kind, typed = LINKS[request.param]
    send(Owner(api, ann["access_token"], ann["user"]["id"]))
    return post.link(kind), typed


def button_works(page, link, typed, api):
    """Whether the button of the page, or one that a page without a button should have, works."""
    if page.has_form:
        return Reader().send(page, **typed).status < 400
    body = {**query(link), **typed}
    path = urlsplit(link).path.removeprefix("/auth/")
    return api.request("POST", path, body, headers=SAME).status < 400


def test_every_kind_of_link_is_tried():
    pages = {
        path
        for path, view in endpoints()
        if issubclass(view.cls, LinkEndpoint) and "get" in view.actions
    }
    # The way to a provider and back, which no mail contains.
    ways = {"oauth/<str:provider>", "oauth/<str:provider>/callback"}

    assert pages - ways == set(LINKS)


def test_page_of_a_new_link_has_a_button_and_opening_it_changes_nothing(mailed, api):
    link, typed = mailed
    before = rows()

    pages = [Reader().open(link) for _ in range(2)]

    assert rows() == before
    assert all(page.has_form for page in pages)
    assert button_works(pages[0], link, typed, api)


def test_page_of_a_used_link_has_a_button_only_if_it_works_again(mailed, api):
    link, typed = mailed
    Reader().send(Reader().open(link), **typed)

    page = Reader().open(link)

    assert page.has_form == button_works(page, link, typed, api)


def test_page_of_an_expired_link_has_no_button(mailed, api, clock):
    link, typed = mailed
    clock.forward(days=8)

    page = Reader().open(link)

    assert not page.has_form
    assert not button_works(page, link, typed, api)


def test_page_of_an_unknown_link_has_no_button(mailed, api):
    link, typed = mailed
    link = link.replace(query(link)["token"], "A" * 43)

    page = Reader().open(link)

    assert not page.has_form
    assert not button_works(page, link, typed, api)
