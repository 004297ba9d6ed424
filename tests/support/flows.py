"""The steps of recovery and verification as a user takes them, and changes between these steps."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from django.test import TestCase

from authservice.core.messages import kinds
from authservice.core.models import Account
from authservice.core.users.identifiers import email_key, phone_key
from authservice.kernel import databases
from tests.support.client import Answer, Api
from tests.support.messenger.post import Post
from tests.support.people import email_field, has

ANN = "ann@example.com"
PHONE = "+4930123456"
OTHER_PHONE = "+4930123457"
NEW = "fig biscuit 17 lanterns"


class CommittingApi(Api):
    """Runs the on-commit callbacks of each request, since the tests themselves never commit."""

    def request(self, *args: Any, **options: Any) -> Answer:
        with TestCase.captureOnCommitCallbacks(execute=True):
            return super().request(*args, **options)


class Flows:
    def __init__(self, api: Api, post: Post) -> None:
        self.api, self.post = api, post

    def reset_token(self, email: str = ANN) -> str:
        self.api.post("forgot-password", email=email)
        return self.post.token(kinds.RESET_BY_LINK)

    def reset_code(self, phone: str = PHONE) -> str:
        self.api.post("forgot-password", phone=phone)
        return self.post.code(kinds.RESET_BY_CODE)

    def email_token(self, email: str = ANN) -> str:
        self.api.post("send-verification-email", email=email)
        return self.post.token(kinds.VERIFY_EMAIL)

    def phone_code(self, phone: str = PHONE, token: str = "") -> str:
        """The code of the account with this access token, otherwise of the only one."""
        self.api.post("send-verification-phone", phone=phone, token=token)
        return self.post.code(kinds.VERIFY_PHONE)

    def reset(self, token: str, **more: Any) -> Answer:
        # A whole body, since the argument `token` is the access token of the caller.
        body = {"token": token, "email": ANN, "new_password": NEW, **more}
        return self.api.request("POST", "reset-password", body)

    def reset_by_code(self, code: str, **more: Any) -> Answer:
        body = {"code": code, "phone": PHONE, "new_password": NEW, **more}
        return self.api.request("POST", "reset-password", body)

    def click(self, token: str, email: str = ANN, **headers: str) -> Answer:
        return self.api.get(verify_path(token, email), headers=headers)

    def verify_phone(self, code: str, phone: str = PHONE, token: str = "") -> Answer:
        return self.api.post("verify-phone", phone=phone, code=code, token=token)


def verify_path(token: str, email: str = ANN) -> str:
    return f"verify-email?{urlencode({'token': token, 'email': email})}"


def wrong(code: str) -> str:
    """A code that differs from this one."""
    return f"{(int(code) + 1) % 10**6:06d}"


def account(email: str = ANN) -> Account:
    rows = Account.objects.using(databases.primary()).select_related("user")
    return rows.get(email_key=email_key(email))


def prove(email: str = ANN, phone: str = "") -> None:
    """Mark the address as verified by its owner, and the number if one is given."""
    proven = {"verified_email_key": email_key(email), "proven_email_key": email_key(email)}
    if phone:
        proven["verified_phone_key"] = phone_key(phone)
    Account.objects.filter(email_key=email_key(email)).update(**proven)


def deactivate(email: str = ANN) -> None:
    found = account(email)
    Account.objects.filter(pk=found.pk).update(active=False)
    if has("is_active"):
        type(found.user).objects.filter(pk=found.pk).update(is_active=False)


def move(to: str) -> None:
    """Change the address of Ann as a script of the host does: without a signal."""
    found = account()
    if has(email_field()):
        type(found.user).objects.filter(pk=found.pk).update(**{email_field(): to})
    else:
        key = email_key(to)
        Account.objects.filter(pk=found.pk).update(email=to, email_key=key, email_claim=key)


def email_verified(token: str, api: Api) -> bool:
    return api.get("me", token=token).data["email_verified"]


def phone_verified(token: str, api: Api) -> bool:
    return api.get("me", token=token).data["phone_number_verified"]
