"""What happens before an upgrade: users of every kind, and what their clients and mailboxes hold.

Each value that `tell` returns has a test in `tests/upgrade/inside`.
"""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any
from urllib.parse import parse_qs, urlsplit

from django.conf import settings
from django.contrib.auth import get_user_model
from django.core import mail
from django.core.cache import caches
from django.db import transaction
from django.test import override_settings

from authservice.core.credentials import passwords
from authservice.core.importing import package_tables
from authservice.core.login import password_recheck
from authservice.core.messages import kinds
from authservice.core.models import Account, OneTimeToken
from authservice.core.users import lookup
from authservice.kernel.message_queue import Message
from authservice.notification import worker
from tests.oauth.browsing import Browser, profile
from tests.support.client import PASSWORD, Answer, Api
from tests.support.flows import deactivate, prove
from tests.twofactor.people import Person, app_of

PHONES = {"dora": "+4930123456", "emil": "+4930123457"}
TEXTS: list[tuple[str, str]] = []
# Longer than a time step of an authenticator app, so that its next code is unused.
STEP = timedelta(seconds=31)


def text(to: str, body: str) -> None:
    """The sender of text messages."""
    TEXTS.append((to, body))


class Client(Api):
    """A client whose requests no flood limit stops."""

    def request(self, *arguments: Any, **options: Any) -> Answer:
        caches["default"].clear()
        return super().request(*arguments, **options)


def email(name: str) -> str:
    return f"{name}@example.com"


def mailed(name: str) -> str:
    """The token of the link in the newest mail to a user."""
    bodies = [str(sent.body) for sent in mail.outbox if sent.to == [email(name)]]
    link = re.findall(r"http\S+", bodies[-1])[-1]
    return parse_qs(urlsplit(link).query)["token"][0]


def code_in(body: str) -> str:
    return re.findall(r"\b\d{6}\b", body)[0]


def tokens(answer: Any) -> dict[str, str]:
    return {name: answer[name] for name in ("access_token", "refresh_token")}


def cookies(answer: Answer) -> str:
    return "; ".join(f"{name}={it.value}" for name, it in answer.response.cookies.items())


def proven(api: Api, name: str) -> Any:
    """A new user who owns the address; the response to the sign-up."""
    signed_up = api.sign_up(email(name))
    prove(email(name))
    return signed_up


def tell(traveller: Any) -> dict[str, Any]:
    api = Client()
    return {
        **_sessions(api),
        **_links(api),
        **_codes(api),
        **_second_factors(api, traveller),
        **_providers(api),
        **_invitations(api),
        **_refused(api),
        **_others(api),
    }


def _sessions(api: Api) -> dict[str, Any]:
    began = tokens(api.sign_up(email("bob")))
    rotated = api.post("refresh", refresh_token=began["refresh_token"]).data
    with override_settings(
        AUTHSERVICE={**settings.AUTHSERVICE, "SIGNING_KEYS": settings.SIGNING_KEYS}
    ):
        signed = tokens(proven(api, "pia"))
    device = api.post("login", email=email("pia"), password=PASSWORD)
    proven(api, "cleo")
    with override_settings(AUTHSERVICE={**settings.AUTHSERVICE, "COOKIES": {"ENABLED": True}}):
        token_cookies = cookies(api.post("login", email=email("cleo"), password=PASSWORD))
        # It is valid for this session only.
        fetched = Client(paired=False).get("csrf-token", headers={"Cookie": token_cookies})
    return {
        "session": tokens(rotated),
        "signed_with_key": signed,
        "device": device.headers["X-Device-Token"],
        "browser": {
            "cookies": f"{token_cookies}; {cookies(fetched)}",
            "csrf_token": fetched.data["csrf_token"],
        },
    }


def _links(api: Api) -> dict[str, Any]:
    signup = api.post("signup", email=email("carl"), password=PASSWORD)
    held = {"verification": mailed("carl"), "signup_cookie": cookies(signup)}

    proven(api, "dan")
    api.post("forgot-password", email=email("dan"))
    held["reset"] = mailed("dan")

    hans = proven(api, "hans")["access_token"]
    changed = {"email": email("hans2"), "password": PASSWORD}
    assert api.request("POST", "change-email", changed, token=hans).status == 200
    held["change_email"] = mailed("hans2")
    # A queue loses the notice to the former address.
    notices = OneTimeToken.objects.filter(purpose="secure-account", user__email=email("hans"))
    assert notices.update(digest=None) == 1

    ivo = proven(api, "ivo")["access_token"]
    changed = {"email": email("ivo2"), "password": PASSWORD}
    assert api.request("POST", "change-email", changed, token=ivo).status == 200
    assert api.request("POST", "change-email/confirm", {"token": mailed("ivo2")}).status == 200
    held["reserved_address"] = email("ivo")

    jan = proven(api, "jan")["access_token"]
    body = {"old_password": PASSWORD, "new_password": "fig biscuit 17 lanterns"}
    assert api.request("PUT", "change-password", body, token=jan).status == 200
    held["secure"] = mailed("jan")

    proven(api, "gina")
    asked = api.post("magic-link/send", email=email("gina"))
    held |= {"magic_link": mailed("gina"), "magic_cookie": cookies(asked)}
    proven(api, "gerd")
    api.post("magic-link/send", email=email("gerd"))
    held["magic_code"] = code_in(str(mail.outbox[-1].body))
    asked = api.post("magic-link/send", email=email("noel"))
    return {**held, "first_use": mailed("noel"), "first_use_cookie": cookies(asked)}


def _codes(api: Api) -> dict[str, Any]:
    dora = proven(api, "dora")["access_token"]
    number = {"phone": PHONES["dora"], "password": PASSWORD}
    assert api.request("PUT", "profile", number, token=dora).status == 200
    api.post("send-verification-phone", phone=PHONES["dora"])
    held = {"phone": code_in(TEXTS[-1][1])}

    emil = proven(api, "emil")["access_token"]
    number = {"phone": PHONES["emil"], "password": PASSWORD}
    assert api.request("PUT", "profile", number, token=emil).status == 200
    api.post("send-verification-phone", phone=PHONES["emil"])
    verified = api.post("verify-phone", phone=PHONES["emil"], code=code_in(TEXTS[-1][1]))
    assert verified.status == 200, verified.body
    api.post("forgot-password", phone=PHONES["emil"])
    return {**held, "reset_code": code_in(TEXTS[-1][1])}


def _second_factors(api: Api, traveller: Any) -> dict[str, Any]:
    proven(api, "ann")
    ann = Person(api, email("ann"), token=api.log_in(email("ann"))["access_token"])
    ann.set_up()
    assert ann.post("2fa/verify", code=ann.code()).status == 200
    traveller.shift(STEP)
    remembered = ann.verify_login(ann.code(), remember_device=True)
    assert remembered.status == 200, remembered.body
    held = {
        "totp_uri": ann.app.provisioning_uri(),
        "backup_codes": ann.backup_codes,
        "challenge": ann.temp_token(),
        "remembered_device": remembered.headers["X-Device-Token"],
    }

    # Rita must set one up, and has not yet. Root has, and creates a user.
    for name in ("rita", "root"):
        proven(api, name)
        Account.objects.filter(email=email(name)).update(is_super_admin=True)
    [challenge] = api.log_in(email("rita"))["challenges"]
    [first] = api.log_in(email("root"))["challenges"]
    temp_token = first["data"]["temp_token"]
    code = app_of(api.post("2fa/setup-login", temp_token=temp_token).data["qr_url"]).now()
    signed_in = api.post("2fa/verify-login", temp_token=temp_token, code=code)
    token = signed_in.data["access_token"]
    created = api.post("admin/users", token=token, email=email("nora"), name="Nora")
    assert created.status == 201, created.body
    return {
        **held,
        "setup_challenge": challenge["data"]["temp_token"],
        "super_admin": tokens(signed_in.data),
        "first_password": mailed("nora"),
    }


def _providers(api: Api) -> dict[str, Any]:
    for name in ("max", "mia"):
        signed_in = Browser(api).sign_in(profile(f"{name}-at-acme", email(name)))
        assert signed_in.status == 200, signed_in.body
    # Mia has no password, so a link deletes the account.
    mia = signed_in.data["access_token"]
    assert api.request("DELETE", "me", {}, token=mia).status == 200
    rose = proven(api, "rose")["access_token"]
    Browser(api).link(rose, profile("rose-at-acme", email("rose")))
    assert api.request("DELETE", "oauth/acme", token=rose).status == 200
    leaving = Browser(api)
    consent = leaving.start()
    return {
        "provider": {"subject": "max-at-acme"},
        "removed_provider": {"subject": "rose-at-acme"},
        "at_provider": {"consent": consent, "cookies": leaving.cookies},
        "nonce": api.post("oauth/acme/nonce").data["nonce"],
        "deletion": mailed("mia"),
    }


def _invitations(api: Api) -> dict[str, Any]:
    olaf = proven(api, "olaf")["access_token"]
    assert api.post("invitations", token=olaf, email=email("kim")).status == 201
    org = api.post("org", token=olaf, name="Acme").data["id"]
    closed = api.post("org", token=olaf, name="Closed").data["id"]
    assert api.request("DELETE", f"org/{closed}", token=olaf).status == 200
    assert api.post(f"org/{org}/invite", token=olaf, email=email("lea")).status == 201
    switched = api.post("org/switch", token=olaf, org_id=org)
    return {
        "invitation": mailed("kim"),
        "organization": {"id": org, "invitation": mailed("lea"), **tokens(switched.data)},
    }


def _refused(api: Api) -> dict[str, Any]:
    proven(api, "sue")
    deactivate(email("sue"))
    proven(api, "leo")
    while (wrong := api.post("login", email=email("leo"), password="wrong")).status == 401:
        pass
    assert wrong.status in (423, 429), wrong.body
    ended = tokens(proven(api, "olga"))
    assert api.post("logout", token=ended["access_token"]).status == 200
    return {"ended": ended}


def _others(api: Api) -> dict[str, Any]:
    with transaction.atomic():
        package_tables.remember("allauth", "link", [7])
    bob = lookup.find_by_email(email("bob"))
    passwords.tell_validators_at_login(bob)
    password_recheck._store(bob, "password_breached", timedelta(days=30))
    legacy = get_user_model().objects.create_user("old", email("old"), "an old password")
    fetched = api.get("csrf-token")
    job = Message(kind=kinds.RESET_BY_LINK, target=email("bob"), language="de", requested=True)
    return {
        "user_without_sign_in": str(legacy.pk),
        "imported": [7],
        "csrf": {"token": fetched.data["csrf_token"], "cookie": cookies(fetched)},
        "job": worker.to_dict(job),
    }
