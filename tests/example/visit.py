"""Two users visit every part of the console."""

from __future__ import annotations

import time

import pyotp

from tests.example.console import PASSWORD, Profile

NEW_PASSWORD = "fig tart 43 doors"
# Nobody must have a second factor in the example project, so nobody sets one up while logging in.
NOT_REACHED = {"POST 2fa/setup-login"}


class Visit:
    """Ann and Bob, each in a profile. Addresses contain `name`, since services share databases."""

    def __init__(self, ann: Profile, bob: Profile, name: str) -> None:
        self.ann = ann
        self.bob = bob
        self.name = name
        self.address = f"ann-{name}@example.com"
        self.password = PASSWORD

    def sign_up(self):
        credentials = {"email": self.address, "password": PASSWORD}
        assert "INVALID_CREDENTIALS" in self.ann.send("login", **credentials)
        signed_up(self.ann, self.address)

    def change_the_account(self):
        ann = self.ann
        ann.send("profile", name="Ann")
        assert ann.text("#user [data-text=name]") == "Ann"
        username = f"ann-{self.name}"
        ann.send("change-username", username=username, password=self.password)
        assert ann.text("#user [data-text=username]") == username
        ann.send("change-password", old_password=self.password, new_password=NEW_PASSWORD)
        self.password = NEW_PASSWORD
        ann.send("refresh")
        ann.send("me")
        assert ann.text("#user [data-text=email]") == self.address

    def protect_the_account(self):
        """Set up an authenticator app from what the page shows, and log in with it."""
        ann = self.ann
        ann.send("setup")
        assert ann.find("#secret img").get_property("naturalWidth") > 0
        self.app = pyotp.TOTP(ann.text("#secret [data-text=secret]"))
        self.backup = ann.text("#secret [data-text=backup_codes]").splitlines()
        # A code works once: the next login needs that of the next time step. That of the one before
        # is accepted until this one ends.
        wait_for_time_step(seconds=15)
        assert "(" not in ann.send("verify", code=self.app.at(time.time() - 30))
        assert ann.text("#factor-state [data-text=enabled]") == "true"
        assert not ann.find("#secret").is_displayed()
        ann.log_out()
        self.log_in(ann, self.app.now())

    def log_in(self, profile, code=""):
        profile.send("login", email=self.address, password=self.password)
        if code:
            profile.send("verify-login", code=code)
        profile.is_signed_in_as(self.address)

    def end_sessions(self):
        ann, bob = self.ann, self.bob
        if not ann.all("#sessions"):
            assert "AUTHSERVICE_LOGIN=session" in ann.text("[aria-labelledby=sessions-title]")
            return
        self.log_in(bob, self.backup.pop())
        ann.send("sessions")
        assert len(ann.all("#session-list > li")) == 2
        other = "#session-list > li:not(:has([data-if=current]:not([hidden])))"
        ann.send_row(other)
        assert len(ann.all("#session-list > li")) == 1
        bob.send("me")
        bob.says("This session has ended.")
        self.log_in(bob, self.backup.pop())
        ann.send("end-others")
        assert len(ann.all("#session-list > li")) == 1
        bob.send("me")
        bob.says("This session has ended.")

    def share_an_organization(self):
        ann, bob = self.ann, self.bob
        invited, organization = f"bob-{self.name}@example.com", f"Acme {self.name}"
        ann.send("create", name=organization)
        ann.send_row("#organization-list > li")
        assert len(ann.all("#member-list > li")) == 1
        ann.send("invite-member", email=invited, role="admin")
        ann.send("member-invitations")
        assert f"{invited}, admin: pending" in ann.text("#member-invitation-list")
        bob.follow(invited, "/org/invitations/accept?")
        bob.send("accept", name="Bob", password=PASSWORD)
        bob.is_signed_in_as(invited)
        bob.send("organizations")
        assert organization in bob.text("#organization-list")
        ann.send("members")
        assert f"{invited}: admin" in ann.text("#member-list")
        ann.send("audit")
        assert "org.invitation.sent" in ann.text("#audit-list")
        assert bob.is_as_wide_as_the_screen()
        bob.log_out()
        bob.back()

    def invite_to_the_service(self):
        ann, bob = self.ann, self.bob
        for number, answer in enumerate(("decline", "accept")):
            invited = f"carol-{number}-{self.name}@example.com"
            ann.send("invite", email=invited)
            bob.follow(invited, "/invitations/accept?")
            given = {} if answer == "decline" else {"name": "Carol", "password": PASSWORD}
            bob.send(answer, **given)
            bob.back()
        ann.send("invitations")
        assert "declined" in ann.text("#invitation-list")

    def give_up_the_second_factor(self):
        self.ann.send("disable", code=self.app.at(time.time() + 30))
        self.ann.send("factor")
        assert self.ann.text("#factor-state [data-text=enabled]") == "false"

    def follow_mails(self):
        """Change the address, sign in by mail, choose another password."""
        ann = self.ann
        changed = f"new-{self.name}@example.com"
        refused = ann.send("change-email", email=changed, password="x")
        assert "INVALID_CREDENTIALS" in refused
        ann.send("change-email", email=changed, password=self.password)
        ann.follow(changed, "/change-email/confirm?")
        ann.says("The address is verified.")
        ann.back()
        self.address = changed
        ann.send("me")
        ann.is_signed_in_as(changed)
        ann.log_out()

        ann.send("magiclink", email=changed)
        ann.follow(changed, "/magic-link/verify?")
        ann.is_signed_in_as(changed)
        ann.log_out()
        ann.back()

        ann.send("forgot", email=changed)
        ann.follow(changed, "/reset-password?")
        assert "token" not in ann.browser.current_url
        self.password = "pear tart 44 lamps"
        ann.send("reset", new_password=self.password)
        ann.back()
        self.log_in(ann)

    def link_the_provider(self, issuer):
        ann, user = self.ann, f"user-{self.name}"
        ann.sent.add("POST oauth/oidc/link")
        ann.press(ann.find("#link-oidc button"))
        self._choose(issuer, user)
        ann.says("The provider is linked.")
        if ann.all("body[data-cookies]"):
            ann.log_out()
        ann.press(ann.find("[data-provider]"))
        self._choose(issuer, user)
        ann.is_signed_in_as(self.address)
        assert "token" not in ann.browser.current_url
        ann.send("linked")
        assert ann.text("#linked-state [data-text=providers]") == "oidc"
        ann.send("unlink-oidc")
        assert ann.text("#linked-state [data-text=providers]") == ""

    def delete_the_account(self):
        ann = self.ann
        assert "INVALID_CREDENTIALS" in ann.send("delete-me", password="x")
        ann.send("delete-me", password=self.password)
        ann.says("Account deleted.")
        refused = ann.send("login", email=self.address, password=self.password)
        assert "INVALID_CREDENTIALS" in refused

    def _choose(self, issuer, user):
        ann = self.ann
        ann.until(lambda: ann.browser.current_url.startswith(issuer))
        ann.find("input[name=sub]").send_keys(user)
        ann.press(ann.find("form:has(input[name=sub]:not([type=hidden])) button"))
        ann.until(lambda: ann.browser.current_url.startswith(ann.origin))


def wait_for_time_step(seconds):
    """Wait until the time step of a code lasts that long."""
    while time.time() % 30 > 30 - seconds:
        time.sleep(0.1)


def signed_up(profile, address):
    profile.send("signup", email=address, password=PASSWORD)
    profile.is_signed_in_as(address)
    profile.follow(address, "/verify-email?")
    profile.says("The address is verified.")
    profile.back()
    profile.send("me")
    assert profile.text("#user [data-text=email_verified]") == "true"


def serious(profile, *allowed):
    """Complaints of the browser. It reports each refused request as an error of its console."""
    return [one for one in profile.complaints(*allowed) if "401 (Unauthorized)" not in one]
