"""Storages of the host project take the place of the database."""

from dataclasses import replace

import pytest

from authservice.core.models import Session
from authservice.oauth.models import LinkedAccount
from authservice.oauth.storage import DatabaseUsers, LinkTaken
from authservice.session.stores import DatabaseStore, store
from tests.oauth.browsing import profile
from tests.support.mounted import mounted
from tests.support.people import users

pytestmark = pytest.mark.django_db


class Links:
    """Links in memory."""

    kept: list = []

    def find(self, provider, subject):
        found = (one for one in self.kept if (one.provider, one.subject) == (provider, subject))
        return next(found, None)

    def of_user(self, user_id):
        return [link for link in self.kept if link.user_id == user_id]

    def add(self, link):
        mine = {one.provider for one in self.of_user(link.user_id)}
        if self.find(link.provider, link.subject) or link.provider in mine:
            raise LinkTaken
        self.kept.append(link)

    def remove(self, link):
        self.kept.remove(link)
        return True

    def store_tokens(self, link, sealed):
        self.kept[self.kept.index(link)] = replace(link, sealed_tokens=sealed)
        return True


class Colleagues(DatabaseUsers):
    """Only users of one company are found and created."""

    def create(self, new_user, then):
        return super().create(replace(new_user, name=f"{new_user.name} (colleague)"), then)


class Sessions(DatabaseStore):
    """A store of sessions that refuses all of them."""

    def alive(self, session):
        return False


@pytest.fixture
def links(oauth):
    oauth(OAUTH_STORAGE=f"{__name__}.Links")
    Links.kept.clear()
    return Links.kept


def test_links_are_stored_in_the_storage_of_the_host(links, browser, api):
    token = browser.sign_in().data["access_token"]

    assert browser.sign_in().data["is_new_user"] is False
    assert [link.subject for link in links] == ["ann-at-acme"]
    assert api.get("oauth/linked", token=token).data == {"providers": ["acme"]}
    assert not LinkedAccount.objects.exists()


def test_link_and_unlink_use_the_storage_of_the_host(links, browser, api, ann):
    token = ann["access_token"]
    browser.link(token, profile("1"))
    assert browser.link(token, profile("2")).error == (409, "OAUTH_ALREADY_LINKED")

    assert api.request("DELETE", "oauth/acme", token=token).status == 200
    assert links == []


def test_first_proof_removes_links_of_the_storage_of_the_host(links, browser, other_browser, api):
    attacker = api.sign_up()["access_token"]
    other_browser.link(attacker, profile("eve", "eve@example.com"))

    browser.sign_in()

    assert [link.subject for link in links] == ["ann-at-acme"]


def test_users_are_created_by_the_storage_of_the_host(oauth, browser):
    oauth(CORE_STORAGE=f"{__name__}.Colleagues")

    answer = browser.sign_in(profile(name="Ann"))

    assert (answer.data["user"]["name"], users()) == ("Ann (colleague)", 1)


def test_sessions_use_the_storage_of_the_host(oauth, browser, api):
    with mounted(login="session"):
        oauth(SESSION_STORAGE=f"{__name__}.Sessions", USE_SESSION_AUTH=True)
        token = browser.sign_in().data["access_token"]

        assert api.get("me", token=token).error == (401, "INVALID_TOKEN")
        assert Session.objects.count() == 1


def test_store_of_the_session_module_takes_precedence(oauth, configure):
    with mounted(login="session"):
        oauth(SESSION_STORAGE=f"{__name__}.Sessions")
        configure(SESSION={"STORE": "cache"})

        assert type(store()).__name__ == "CacheStore"
