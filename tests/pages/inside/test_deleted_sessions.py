"""Django's session is deleted while a request runs, as by a logout or a login in another tab.
Django answers 400 to a request that has changed it, and this service changes it by itself."""

from datetime import timedelta

import pytest
import time_machine
from django.contrib.auth import SESSION_KEY
from django.contrib.sessions.backends.base import UpdateError
from django.utils import timezone

from authservice.core.sessions import sessions
from authservice.core.staff import admin_login
from authservice.kernel.http import pages
from authservice.pages import calls
from tests.pages.inside.person import Person
from tests.support.client import PASSWORD
from tests.support.flows import ANN

pytestmark = pytest.mark.django_db


@pytest.fixture(params=["cache", "cached_db", "db", "file"])
def stored(request, settings, tmp_path):
    """Django's session is stored on the server."""
    settings.SESSION_ENGINE = f"django.contrib.sessions.backends.{request.param}"
    settings.SESSION_FILE_PATH = str(tmp_path)


@pytest.fixture
def other_tab(stored, ann, person, api):
    """Ann's browser; `other_tab(obj, name)` deletes its Django session when this function is next
    called, as a logout in another tab does."""
    person.enter(ANN, PASSWORD, remember="on")
    assert person.name == "ann"

    def log_out_during(monkeypatch, obj, name):
        original = getattr(obj, name)

        def first_logged_out(*args, **options):
            person.client.session.delete()
            return original(*args, **options)

        monkeypatch.setattr(obj, name, first_logged_out)

    return log_out_during


@pytest.mark.parametrize("path", ["/whoami", "/whoami-async", "/orders", "/auth/account/profile"])
def test_renewal_of_a_session_that_is_deleted_meanwhile_signs_the_visitor_out(
    path, other_tab, person, monkeypatch
):
    with time_machine.travel(timezone.now() + timedelta(minutes=16), tick=True):
        other_tab(monkeypatch, sessions, "find_for_refresh")

        assert person.visit(path).status == 200

        monkeypatch.undo()
        assert person.name == ""
        assert person.visit("/auth/account/profile").location.startswith("/auth/login?next=")
        assert SESSION_KEY not in person.client.session


def test_form_of_a_session_that_is_deleted_meanwhile_leads_to_the_login(
    other_tab, person, monkeypatch
):
    page = person.open("/auth/account/profile/name")
    other_tab(monkeypatch, calls, "call")

    sent = person.post(page, name="Ann Lee")

    monkeypatch.undo()
    assert sent.status == 303
    page = person.open(sent.location)
    assert (page.url.partition("?")[0], page.notice) == ("/auth/login", "")


def test_notice_of_a_session_that_is_deleted_meanwhile_is_shown(other_tab, person, monkeypatch):
    page = person.open("/auth/account/profile/name")
    sent = person.post(page, name="Ann Lee")
    other_tab(monkeypatch, pages, "page")

    page = person.visit(sent.location)

    assert (page.status, page.notice) == (200, "Your name was changed.")
    monkeypatch.undo()
    assert person.name == ""


def test_login_of_a_browser_whose_session_is_deleted_meanwhile(other_tab, person, monkeypatch):
    page = person.open("/auth/login?again=1")
    other_tab(monkeypatch, calls, "call")

    person.post(page, identifier=ANN, password=PASSWORD)

    monkeypatch.undo()
    assert person.name == "ann"


@pytest.fixture
def other_login(stored, ann, person, monkeypatch):
    """Ann's browser; `other_login(obj, name)` logs her in again in another tab when this function
    is next called."""
    person.enter(ANN, PASSWORD)
    second = Person()
    second.client.cookies = person.client.cookies  # one browser
    form = second.open("/auth/login?again=1")

    def log_in_during(obj, name):
        original = getattr(obj, name)

        def first_logged_in(*args, **options):
            monkeypatch.undo()
            before = person.client.cookies["sessionid"].value
            assert second.post(form, identifier=ANN, password=PASSWORD).status == 303
            assert person.client.cookies["sessionid"].value != before
            return original(*args, **options)

        monkeypatch.setattr(obj, name, first_logged_in)

    return log_in_during


@pytest.mark.parametrize("saves_always", [False, True])
def test_notice_beside_a_login_in_another_tab_leaves_the_visitor_signed_in(
    other_login, person, settings, saves_always
):
    settings.SESSION_SAVE_EVERY_REQUEST = saves_always
    sent = person.post(person.open("/auth/account/profile/name"), name="Ann Lee")
    other_login(pages, "page")

    page = person.visit(sent.location)  # its response arrives after that of the login

    assert (page.status, page.notice) == (200, "Your name was changed.")
    assert "sessionid" not in page.response.cookies
    assert person.name == "ann"


@pytest.mark.parametrize("path", ["/whoami", "/whoami-async", "/orders", "/auth/account/profile"])
def test_renewal_beside_a_login_in_another_tab_leaves_the_visitor_signed_in(
    path, other_login, person
):
    with time_machine.travel(timezone.now() + timedelta(minutes=16), tick=True):
        other_login(admin_login, "store_versions")  # the claims are renewed

        page = person.visit(path)

        # The login has ended the session of this request, which is that of a visitor then.
        assert page.status == 200 or page.location.startswith("/auth/login?next=")
        assert "sessionid" not in page.response.cookies
        assert person.name == "ann"


def test_session_that_is_deleted_in_the_last_moment_signs_the_visitor_out(
    other_tab, person, monkeypatch
):
    """Between the question whether it still exists, and the attempt to store it."""
    sent = person.post(person.open("/auth/account/profile/name"), name="Ann Lee")
    other_tab(monkeypatch, type(person.client.session), "save")

    assert person.visit(sent.location).status == 200

    monkeypatch.undo()
    assert person.name == ""


def test_session_that_cannot_be_stored_for_another_reason_is_not_signed_out(
    other_tab, person, monkeypatch
):
    before = person.client.cookies["sessionid"].value

    def fail(*_, **__):
        raise UpdateError

    with time_machine.travel(timezone.now() + timedelta(minutes=16), tick=True):
        monkeypatch.setattr(type(person.client.session), "save", fail)
        person.client.raise_request_exception = False
        assert person.visit("/whoami").status == 400

        monkeypatch.undo()
        assert (person.name, person.client.cookies["sessionid"].value) == ("ann", before)
