"""The sessions of the account, which its pages show with the session module alone."""

from datetime import timedelta

import pytest
from django.utils import timezone

from authservice.core.models import Session
from authservice.pages import account_pages
from tests.pages.inside.person import Person
from tests.support.client import PASSWORD
from tests.support.flows import ANN

pytestmark = pytest.mark.django_db
SESSIONS = "/auth/account/sessions"


def test_sessions_are_ended(signed_in):
    other = Person()
    agent = "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) Version/18.0 Safari/604.1"
    other.client.defaults["HTTP_USER_AGENT"] = agent
    other.enter(ANN, PASSWORD)
    page = signed_in.open(SESSIONS)
    assert "Safari on iOS" in page.text
    assert page.text.count("This browser") == 1

    end = next(link for link in page.links if "sessions/end?" in link)
    page = signed_in.send(signed_in.open(end))
    assert (page.heading, signed_in.name, other.name) == ("Sessions", "ann", "")

    other.enter(ANN, PASSWORD)
    signed_in.send(signed_in.open(f"{SESSIONS}/end-others"))
    assert (signed_in.name, other.name) == ("ann", "")
    assert Session.objects.filter(user__username="ann", ended_at=None).count() == 1


@pytest.mark.parametrize(
    ("unused", "text"),
    [
        (timedelta(minutes=4), "Active now"),
        (timedelta(minutes=6), "Last active 6 minutes ago"),
        (timedelta(hours=2), "Last active 2 hours ago"),
    ],
)
def test_sessions_say_when_they_were_used(unused, text, signed_in):
    Person().enter(ANN, PASSWORD)
    other = Session.objects.latest("created_at")
    long_ago = timezone.now() - timedelta(days=3)
    Session.objects.update(created_at=long_ago, last_used_at=timezone.now() - timedelta(hours=3))
    Session.objects.filter(pk=other.pk).update(last_used_at=timezone.now() - unused)

    shown = signed_in.open(SESSIONS).text.replace("\xa0", " ")

    # This browser is in use, whatever is stored.
    assert "This browser Active now · 127.0.0.1 · Signed in 3 days ago" in shown
    assert shown.count(text) == 1 + (text == "Active now")


def test_sessions_are_shown_in_parts(signed_in, monkeypatch):
    monkeypatch.setattr(account_pages, "PER_PAGE", 2)
    for _ in range(2):
        Person().enter(ANN, PASSWORD)

    first = signed_in.open(SESSIONS)
    second = signed_in.follow(first, "Next")

    assert "1-2 of 4" in first.text
    assert first.html.count('class="icon"') == 2
    assert "3-4 of 4" in second.text
    assert "This browser" in first.text + second.text
    assert ">Next<" not in second.html
    assert "Sign out everywhere else" in second.text
    assert signed_in.follow(second, "Previous").text == first.text


def test_other_peoples_sessions_are_not_found(signed_in, api):
    api.sign_up("bob@example.com")
    theirs = Session.objects.get(user__username="bob")

    page = signed_in.post(signed_in.open(f"{SESSIONS}/end?id={theirs.pk}"))

    assert page.status == 404
    theirs.refresh_from_db()
    assert theirs.ended_at is None
