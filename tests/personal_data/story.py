"""Ann uses everything that the service has, so that each table has a row of hers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

from django.apps import apps
from django.conf import settings
from django.db.models import Model
from django.test import override_settings

from authservice.core.credentials import passwords
from authservice.core.importing import package_tables
from authservice.core.login import password_recheck
from authservice.core.messages import kinds, lost_messages
from authservice.core.models import Account
from authservice.core.own_account import email_change
from authservice.core.users import identifiers, lookup
from authservice.notification import worker
from tests.oauth.browsing import Browser, profile
from tests.oauth.in_process import SETTINGS as ACME
from tests.oauth.in_process import office
from tests.passkeys.people import Holder
from tests.support.client import PASSWORD, Answer, Api
from tests.support.flows import prove
from tests.support.messenger.post import Post
from tests.support.people import the_user
from tests.twofactor.people import Person

PAGE = Path(__file__).parents[2] / "docs" / "your_data.rst"
EMAIL, NEW_EMAIL, BOB = "ann.plum@example.com", "ann.quince@example.com", "bob@example.com"
FORMER_EMAIL = "ann.pear@example.com"
USERNAME, PHONE, OLD_PHONE = "plum-ann-77", "+4930123477", "+4930123478"
FORMER_NAME, NAME, FIRST, LAST = "Annabeth Plum", "Annabel Plumtree", "Annabella", "Plumtreeson"
AVATAR = "https://images.example.com/plum-77.png"
ADDRESS, AGENT = "198.51.100.77", "PlumBrowser/77.7"
SUBJECT, AT_ACME = "plum-at-acme-77", "plum.at.acme@example.org"
ORGANIZATION = "Plum Orchard 77"
PASSKEY = "Plum's key 77"
FOREIGN_KEY = "7700777"
# Whatever identifies Ann, and digests of it that need no key.
VALUES = (
    *(
        EMAIL,
        NEW_EMAIL,
        USERNAME,
        PHONE,
        OLD_PHONE,
        FORMER_NAME,
        NAME,
        FIRST,
        LAST,
        AVATAR,
        ADDRESS,
        AGENT,
    ),
    *(SUBJECT, AT_ACME, "Plum Orchard", "plum-orchard", PASSKEY, FOREIGN_KEY),
    *(identifiers.email_key(email) for email in (EMAIL, NEW_EMAIL, FORMER_EMAIL)),
    *(identifiers.username_key(USERNAME), identifiers.phone_key(PHONE)),
)


def models() -> list[type[Model]]:
    """Every table of this package."""
    found = apps.get_models(include_auto_created=True)
    return [model for model in found if model._meta.app_label.startswith("authservice_")]


class PlumApi(Api):
    """The requests of Ann's browser."""

    def request(self, *arguments: Any, headers: Any = None, **options: Any) -> Answer:
        sent = {"User-Agent": AGENT, **(headers or {})}
        return super().request(*arguments, headers=sent, REMOTE_ADDR=ADDRESS, **options)


@dataclass
class Ann:
    """`other` are the requests of others, from elsewhere."""

    api: Api
    other: Api
    post: Post
    token: str = ""
    user_id: str = ""
    held: dict[str, Any] = field(default_factory=dict)
    # Keyed digests of her password's hash.
    fingerprints: Sequence[str] = ()
    code: str = ""

    def ask(self, method: str, path: str, **body: Any) -> Any:
        answer = self.api.request(method, path, body or None, token=self.token)
        assert answer.status in (200, 201), answer.body
        return answer.data

    def sign_up(self) -> None:
        given = {
            "name": FORMER_NAME,
            "first_name": FIRST,
            "last_name": LAST,
            "phone_number": OLD_PHONE,
        }
        made = self.api.sign_up(EMAIL, username=USERNAME, **given)
        self.token, self.user_id = made["access_token"], made["user"]["id"]
        self.held["refresh_token"] = made["refresh_token"]
        prove(EMAIL, OLD_PHONE)
        self.ask("PATCH", "profile", avatar=AVATAR)

    def change(self) -> None:
        """Another number, which a security notice can undo, and another address."""
        person = lookup.find_by_id(self.user_id)
        email_change.reserve(person, identifiers.email_key(FORMER_EMAIL))
        passwords.tell_validators_at_login(person)
        password_recheck._store(person, "password_breached", timedelta(days=365))
        self.ask("PATCH", "profile", phone=PHONE, password=PASSWORD)
        prove(EMAIL, PHONE)
        self.ask("POST", "change-email", email=NEW_EMAIL, password=PASSWORD)
        self.held["change_email"] = self.post.token(kinds.CHANGE_EMAIL)
        self.api.post("forgot-password", email=EMAIL)
        self.held["reset"] = self.post.token(kinds.RESET_BY_LINK)
        self.api.post("magic-link/send", email=EMAIL)
        self.held["magic"] = self.post.token("magic-link")
        failed = self.post.outgoing("magic-link")
        assert failed
        lost_messages.failed(failed, OSError("refused"))
        change, link = (
            next(job for job in self.post.jobs if job.kind == kind)
            for kind in (kinds.CHANGE_EMAIL, "magic-link")
        )
        # The new address is not that of an account yet, so the last of these has no owner.
        for job in (change, link, replace(link, target=NEW_EMAIL)):
            lost_messages.keep(job, worker.to_dict(job), "refused")
        self.api.post("login", email=EMAIL, password="wrong")
        # Of somebody who signs up with her address, and does not learn that it is taken.
        core = {"SIGNUP_ENUMERATION": "hide"}
        with override_settings(AUTHSERVICE={**settings.AUTHSERVICE, "CORE": core}):
            signed_up = self.other.post("signup", email=EMAIL, password=PASSWORD)
        assert signed_up.status == 201, signed_up.body
        another = self.api.log_in(EMAIL)["access_token"]
        assert self.api.post("logout", token=another).status == 200

    def link(self) -> None:
        office.reset()
        browser = Browser(self.api)
        browser.link(self.token, profile("plum-removed-77", AT_ACME))
        self.ask("DELETE", "oauth/acme")
        browser.link(self.token, profile(SUBJECT, AT_ACME))

    def add_passkey(self) -> None:
        Holder(self.api, EMAIL, token=self.token, user_id=self.user_id).enrol(name=PASSKEY)

    def enrol(self) -> None:
        person = Person(self.api, EMAIL, token=self.token, user_id=self.user_id).enrol()
        logged_in = person.verify_login(person.backup_codes[0], remember_device=True)
        assert logged_in.status == 200, logged_in.body
        self.token = logged_in.data["access_token"]
        self.held["temp_token"] = person.temp_token()
        self.held["secret"] = person.app.secret
        self.code = person.backup_codes[1]
        self.held |= {f"backup_{n}": code for n, code in enumerate(person.backup_codes)}

    def invite(self) -> None:
        bob = self.other.sign_up(BOB, username="bob")["access_token"]
        prove(BOB)
        self.ask("POST", "invitations", email="carl@example.com", metadata='{"by": "Ann"}')
        about = {"logo_url": AVATAR, "metadata": '{"trees": 77}'}
        alone = self.ask("POST", "org", name=ORGANIZATION)["id"]
        self.ask("PUT", f"org/{alone}", **about)
        shared = self.ask("POST", "org", name="Shared Orchard")["id"]
        closed = self.ask("POST", "org", name=f"{ORGANIZATION} closed")["id"]
        self.ask("DELETE", f"org/{closed}")
        self.ask("POST", "org/switch", org_id=alone)
        self.ask("POST", f"org/{shared}/invite", email=BOB, role="owner")
        token = self.post.token("org-invitation")
        joined = self.other.request("POST", "org/invitations/accept", {"token": token}, token=bob)
        assert joined.status == 200, joined.body
        self.ask("POST", f"org/{shared}/invite", email="carl@example.com")
        self.held["org_invitation"] = self.post.token("org-invitation")
        acme = self.other.post("org", token=bob, name="Acme").data["id"]
        for path in (f"org/{acme}/invite", "invitations"):
            sent = self.other.request("POST", path, {"email": EMAIL}, token=bob)
            assert sent.status == 201, sent.body
        self.held["invitation"] = self.post.token("invitation")
        assert self.post.token("org-invitation")

    def be_helped(self) -> None:
        """Staff change her, and an import has brought her."""
        root = self.other.sign_up("root@example.com")["access_token"]
        Account.objects.filter(email="root@example.com").update(is_super_admin=True)
        changed = self.other.request(
            "PUT", f"admin/users/{self.user_id}", {"name": NAME}, token=root
        )
        assert changed.status == 200, changed.body
        package_tables.remember("allauth", "link", [int(FOREIGN_KEY)])


def tell(api: Api, other: Api, post: Post) -> Ann:
    ann = Ann(api, other, post)
    first = (ann.sign_up, ann.change, ann.link, ann.add_passkey)
    for chapter in (*first, ann.invite, ann.be_helped, ann.enrol):
        chapter()
    ann.fingerprints = passwords.fingerprints(the_user(EMAIL).password)
    return ann


def table() -> dict[str, tuple[set[str], str]]:
    """The table in the docs: by the name of a model, the parts of the export, and the sentence
    about a deletion."""
    row = r"   \* - ``(authservice_\w+\.\w+)``\n     - (.*?)\n     - (.*?)\n(?=   \* -|\n)"
    rows = re.findall(row, PAGE.read_text(), re.DOTALL)
    return {
        name: (set(re.findall(r"``(\w+)``", parts)), " ".join(after.split()))
        for name, parts, after in rows
    }


SETTINGS = {
    "TWOFACTOR": {"REMEMBER_TTL": timedelta(days=30)},
    "CORE": {"ALLOW_SELF_DELETE": True},
    "OAUTH": {"PROVIDERS": {"acme": ACME}, "STORE_PROVIDER_TOKENS": True},
    "THROTTLE": {"ENABLED": False},
}
