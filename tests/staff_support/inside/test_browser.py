"""A member of the group "Support" does each task of support staff in a real Chromium."""

import os
import re
from pathlib import Path

import pytest
from django.urls import reverse
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

from authservice.core.messages import kinds
from authservice.core.models import Session
from authservice.twofactor.models import Authenticator
from tests.staff_support.inside.conftest import ANN, account, lock_out, supporter
from tests.support.browser import chromium, console_errors, needs_chromium
from tests.support.client import PASSWORD
from tests.support.people import the_user
from tests.twofactor.people import Person

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow, needs_chromium]

SIZE = (1180, 900)
PICTURES = ("support page", "support confirm Unlock", "support log")


@pytest.fixture(autouse=True)
def _still():
    """The clock of the browser runs."""


class Desk:
    """The browser of a member of the group, on the support page of Ann."""

    def __init__(self, browser, url):
        self.browser = browser
        self._url = url
        self._pictures = os.environ.get("SCREENSHOTS", "")

    def open(self, path):
        self.browser.get(self._url + path)

    def log_in(self):
        name = supporter().user
        name.set_password(PASSWORD)
        name.save()
        self.open(reverse("admin:index"))
        self.browser.find_element(By.NAME, "username").send_keys(name.get_username())
        self.browser.find_element(By.NAME, "password").send_keys(PASSWORD)
        self._submit("input[type=submit]")
        assert "/login/" not in self.browser.current_url

    def find(self, email):
        """Search the account in its list, and follow the link to the support page."""
        self.open(reverse("admin:authservice_core_account_changelist"))
        self.browser.find_element(By.NAME, "q").send_keys(email)
        self._submit("#changelist-search input[type=submit]")
        self._follow(self.browser.find_element(By.LINK_TEXT, "Support page"))

    def press(self, label):
        """Press a button and confirm it; returns the message on the page that follows."""
        page = self.browser.current_url
        self._follow(self.browser.find_element(By.LINK_TEXT, label))
        assert self.browser.current_url.startswith(page)
        assert self.browser.current_url != page
        self.picture(f"support confirm {label}")
        self._submit("#content form input[type=submit]")
        assert self.browser.current_url == page
        return self.texts("ul.messagelist li.success")[0]

    def texts(self, css):
        return [one.text for one in self.browser.find_elements(By.CSS_SELECTOR, css)]

    def obstacles(self):
        return self.texts("#obstacles li.error")

    def link(self, text):
        self._follow(self.browser.find_element(By.LINK_TEXT, text))

    def picture(self, name):
        if self._pictures and name in PICTURES:
            file = name.lower().replace(" ", "-") + ".png"
            assert self.browser.save_screenshot(str(Path(self._pictures) / file))

    def _submit(self, css):
        self._follow(self.browser.find_element(By.CSS_SELECTOR, css))

    def _follow(self, element):
        """Click and wait for the next page."""
        before = self.browser.find_element(By.TAG_NAME, "html")
        element.click()
        WebDriverWait(self.browser, 10).until(lambda _: _is_gone(before))


def _is_gone(element):
    try:
        return not element.is_displayed()
    except Exception:  # the class depends on the moment
        return True


@pytest.fixture
def desk(tmp_path, live_server, ann):
    with chromium(tmp_path) as browser:
        browser.set_window_size(*SIZE)
        desk = Desk(browser, live_server.url)
        desk.log_in()
        yield desk


def test_member_of_the_group_does_each_task(desk, api, ann, post, configure):
    enrolled = Person(api, token=ann["access_token"], user_id=ann["user"]["id"]).enrol()
    lock_out(api)

    # Why can she not log in? Unlock.
    desk.find(ANN)
    (text,) = desk.obstacles()
    assert re.fullmatch(r"Locked until .+ after 10 wrong passwords from 203\.0\.113\.7\.", text)
    desk.picture("support page")
    assert "Unlocked" in desk.press("Unlock")
    assert desk.obstacles() == []
    assert api.post("login", email=ANN, password=PASSWORD).status == 200

    # Disable the second factor, end sessions.
    assert "disabled" in desk.press("Disable the second factor")
    assert not Authenticator.objects.exists()
    token = api.log_in(ANN)["access_token"]
    assert "Ended 1 session." in desk.press("End all sessions")
    assert api.get("me", token=token).error == (401, "INVALID_TOKEN")
    assert enrolled.get("me").status == 401

    # Mails, and the address.
    assert ANN in desk.press("Send a password reset")
    assert post.kinds()[-1] == kinds.RESET_BY_LINK
    assert ANN in desk.press("Resend the verification e-mail")
    assert post.kinds()[-1] == kinds.VERIFY_EMAIL
    assert "verified" in desk.press("Mark the address as verified")
    assert account().verified_email_key

    # Suspend and reactivate.
    assert "Suspended" in desk.press("Suspend")
    assert desk.obstacles() == ["Suspended: the user is not active."]
    assert api.post("login", email=ANN, password=PASSWORD).status == 403
    assert "Reactivated" in desk.press("Reactivate")
    assert api.post("login", email=ANN, password=PASSWORD).status == 200

    # Her sessions and her log entries, and from there back to her page.
    page = desk.browser.current_url
    desk.link("All sessions")
    assert len(desk.texts("#result_list tbody tr")) == Session.objects.count()
    desk.open(page.removeprefix(desk._url))
    desk.link("All log entries")
    actions = desk.texts("#result_list td.field-action")
    assert {"admin.user.unlocked", "auth.2fa.disabled", "auth.login.failed"} <= set(actions)
    desk.picture("support log")
    desk.link(ANN)
    assert desk.browser.current_url == page

    # Her address cannot be changed.
    user = the_user()
    meta = user._meta
    desk.open(reverse(f"admin:{meta.app_label}_{meta.model_name}_change", args=[user.pk]))
    assert "403 Forbidden" in desk.browser.page_source
    errors = [text for text in console_errors(desk.browser) if "favicon" not in text]
    assert [text for text in errors if "403" not in text] == []
