"""Two users visit the shop and their accounts."""

from __future__ import annotations

import time

import pyotp
from selenium.webdriver.common.by import By

from tests.example.console import PASSWORD, Profile

NEW_PASSWORD = "pear tart 44 lamps"


class Visit:
    """Ann and Bob, each in a profile. Addresses contain `name`, since services share databases."""

    def __init__(self, ann: Profile, bob: Profile, name: str) -> None:
        self.ann = ann
        self.bob = bob
        self.name = name
        self.address = f"ann-{name}@example.com"
        self.password = PASSWORD

    def order_as_a_visitor(self):
        """A visitor who orders gets to the sign-in page and, after the sign-up, to the order."""
        ann = self.ann
        ann.go(ann.find("a[href='/orders/new/jam']"))
        assert ann.path == "/auth/login"
        ann.go(ann.find("a[href*='/auth/signup']"))
        ann.send(name="Ann Lee", email=self.address, password=PASSWORD)
        assert ann.path == "/orders/new/jam"
        ann.send()
        assert "Your plum jam is on its way." in ann.text
        ann.open("/")
        assert ann.heading == "Hello, Ann."

    def confirm_the_address(self):
        """By the toast, the mail in the drawer, and its link."""
        ann = self.ann
        ann.press(ann.toast(self.address).find_element(By.TAG_NAME, "a"))
        mail = ann.shown(".panel.mails details[open]")
        ann.go(mail.find_element(By.CSS_SELECTOR, "a[href*='/verify-email?']"))
        assert ann.heading == "Your e-mail address is confirmed"

    def protect_the_account(self):
        ann = self.ann
        ann.open("/auth/account/security/factor")
        ann.send(password=PASSWORD)
        self.app = pyotp.TOTP(ann.find("ol code").text)
        # A code works once: the next login needs that of the next time step. That of the one before
        # is accepted until this one ends.
        wait_for_time_step(seconds=15)
        ann.send(code=self.app.at(time.time() - 30))
        ann.sign_out()
        ann.open("/orders")
        assert ann.path == "/auth/login"
        ann.sign_in(self.address, self.password, self.app.now())
        assert ann.is_signed_in

    def end_a_session(self):
        """Ann ends the session of another browser, which is signed out at once."""
        ann, bob = self.ann, self.bob
        bob.sign_in(self.address, self.password, self.app.at(time.time() + 30))
        assert bob.is_signed_in
        if self._has_devices():
            ann.open("/auth/account/sessions/end-others")
            ann.send()
        else:
            bob.sign_out()
        bob.open("/orders")
        assert bob.path == "/auth/login"

    def _has_devices(self):
        self.ann.open("/auth/account/profile")
        return bool(self.ann.all("a[href='/auth/account/sessions']"))

    def share_an_organization(self):
        ann, bob, invited = self.ann, self.bob, f"bob-{self.name}@example.com"
        ann.open("/auth/account/organizations/create")
        ann.send(name=f"Acme {self.name}")
        ann.go(ann.find("main a[href^='?id=']"))
        ann.go(ann.find("main a[href*='/organizations/invite']"))
        ann.send(email=invited, role="admin")
        bob.follow(invited, "/org/invitations/accept?")
        bob.send(name="Bob", password=PASSWORD)
        bob.open("/auth/account/organizations")
        assert f"Acme {self.name}" in bob.text
        assert bob.is_as_wide_as_the_screen()

    def reset_the_password(self):
        ann = self.ann
        ann.sign_out()
        ann.open("/auth/forgot-password")
        ann.send(email=self.address)
        # The link back to the shop and to its mailbox is on each page of the account.
        ann.go(ann.find("nav.developer a[href='/mailbox']"))
        ann.follow(self.address, "/reset-password?")
        ann.send(new_password=NEW_PASSWORD)
        self.password = NEW_PASSWORD

    def sign_in_by_mail(self):
        ann, other = self.ann, f"mail-{self.name}@example.com"
        ann.sign_up(other)
        ann.follow(other, "/verify-email?")
        ann.sign_out()
        ann.open("/auth/magic-link/send")
        ann.send(email=other)
        ann.follow(other, "/magic-link/verify?")
        ann.until(lambda: ann.path == "/")
        assert ann.is_signed_in

    def sign_in_with_the_provider(self, issuer):
        """Ann, who signed in by mail, links the provider first."""
        ann = self.ann
        ann.open("/auth/account/security")
        ann.go(ann.find("main a[href*='/security/link?']"))
        ann.send(**({"password": PASSWORD} if ann.all("[name=password]") else {}))
        ann.press(ann.find(f"main a[href^='{issuer}']"))
        self._choose(issuer)
        assert "/account/security" in ann.path
        ann.sign_out()
        ann.open("/auth/login")
        ann.press(ann.find("main [href*='/oauth/oidc']"))
        self._choose(issuer)
        assert ann.path == "/"
        assert ann.is_signed_in

    def _choose(self, issuer):
        ann = self.ann
        ann.until(lambda: ann.browser.current_url.startswith(issuer))
        ann.find("input[name=sub]").send_keys(f"user-{self.name}")
        ann.go(ann.find("form:has(input[name=sub]:not([type=hidden])) button"))

    def delete_the_account(self):
        ann, other = self.ann, f"gone-{self.name}@example.com"
        ann.sign_out()
        ann.sign_up(other)
        ann.open("/auth/account/profile/delete")
        ann.send(password=PASSWORD)
        ann.open("/")
        assert not ann.is_signed_in
        ann.sign_in(other, PASSWORD)
        assert ann.path == "/auth/login"


def wait_for_time_step(seconds):
    """Wait until the time step of a code lasts that long."""
    while time.time() % 30 > 30 - seconds:
        time.sleep(0.1)
