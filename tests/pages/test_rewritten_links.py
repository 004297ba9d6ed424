"""Links of mails that a gateway, a mail program or a person changed on the way still work."""

import re
from functools import partial

import pytest

from authservice.core.messages import kinds
from tests.support.client import PASSWORD
from tests.support.flows import NEW

pytestmark = pytest.mark.django_db

# An address whose plus sign a gateway may decode.
PLUS = "ann+shop@example.com"
REWRITTEN = {
    "unchanged": lambda link: link,
    "decoded plus": lambda link: link.replace("%2B", "+"),
    "decoded address": lambda link: link.replace("%2B", "+").replace("%40", "@"),
    "copied from the HTML": lambda link: link.replace("&", "&amp;"),
    "copied from HTML in HTML": lambda link: link.replace("&", "&amp;amp;"),
    "full stop of a sentence": lambda link: f"{link}.",
    "dots": lambda link: f"{link}...",
    "all of these": lambda link: link.replace("%2B", "+").replace("&", "&amp;") + ".",
}


@pytest.fixture(params=REWRITTEN)
def rewrite(request):
    return REWRITTEN[request.param]


@pytest.fixture
def plus(api, post):
    api.request("POST", "signup", {"email": PLUS, "password": PASSWORD})


def verified(api):
    return api.post("login", email=PLUS, password=PASSWORD).data["user"]["email_verified"]


def test_verification_link_works(api, post, reader, plus, rewrite):
    link = rewrite(post.link(kinds.VERIFY_EMAIL))

    page = reader.open(link)
    done = reader.send(page, decision="confirm") if page.has_form else page

    assert done.status == 200
    assert verified(api)


def test_verification_link_works_for_a_program(api, post, plus, rewrite):
    link = rewrite(post.link(kinds.VERIFY_EMAIL))

    answer = api.get(re.sub(r"^.*?/auth/", "", link), headers={"Accept": "application/json"})

    assert answer.data["status"] == "success"


def test_reset_link_works(api, post, reader, plus, rewrite):
    api.post("forgot-password", email=PLUS)
    link = rewrite(post.link(kinds.RESET_BY_LINK))

    done = reader.send(reader.open(link), new_password=NEW)

    assert done.status == 200
    assert api.post("login", email=PLUS, password=NEW).status == 200


@pytest.mark.parametrize("email", ["ann shop@example.com", f"{PLUS}.", PLUS])
def test_front_end_may_send_what_it_read_from_the_link(api, post, plus, email):
    api.post("forgot-password", email=PLUS)
    token = post.token(kinds.RESET_BY_LINK)
    body = {"token": f"{token}.", "email": email, "new_password": NEW}

    assert api.request("POST", "reset-password", body).status == 200


def test_magic_link_works(api, post, reader, plus, rewrite):
    api.post("magic-link/send", email=PLUS)
    link = rewrite(post.link("magic-link"))

    page = reader.open(link)

    assert page.has_form
    assert reader.send(page).status == 200


def test_another_address_or_token_is_refused_as_before(api, post, plus):
    token = post.token(kinds.VERIFY_EMAIL)
    ask = partial(api.get, headers={"Accept": "application/json"})

    for query in (
        f"token={token}&email=ann-shop@example.com",
        f"token={token}&email=annshop@example.com",
        f"token=.{token}&email=ann%2Bshop@example.com",
        f"token={token}x&email=ann%2Bshop@example.com",
        f"token={token}&amp;email=eve@example.com&email=ann-shop@example.com",
    ):
        assert ask(f"verify-email?{query}").code == "INVALID_VERIFICATION_TOKEN"
    assert not verified(api)
