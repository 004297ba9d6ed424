"""People of the admin API's tests: super admins, and those they look after."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

import pytest
from django.test import TestCase

from authservice.core.models import Account
from authservice.core.users import identifiers, lookup
from tests.client import Answer, Api
from tests.people import has, the_user

ANN, BOB, ROOT = "ann@example.com", "bob@example.com", "root@example.com"
PHONE, OTHER_PHONE = "+4930123456", "+4930123457"
superusers = pytest.mark.skipif(not has("is_superuser"), reason="this host has no superusers")


class Committing(Api):
    """Each request commits what it did, as far as anybody waits for the commit."""

    def request(self, *args: Any, **options: Any) -> Answer:
        with TestCase.captureOnCommitCallbacks(execute=True):
            return super().request(*args, **options)


class Admin:
    """A super admin at work: `admin.put(ann, name="Ann")`."""

    def __init__(self, api: Api, email: str) -> None:
        self.api, self.email = api, email
        # By name, since admins outlive their right in some tests.
        self.id = api.sign_up(email)["user"]["id"]
        promote(email)
        self.token = api.log_in(email)["access_token"]

    def ask(self, method: str, path: str, body: Any = None) -> Answer:
        return self.api.request(method, path, body, token=self.token)

    def users(self, **query: Any) -> Answer:
        return self.api.get(f"admin/users{as_query(query)}", token=self.token)

    def show(self, who: str) -> Answer:
        return self.ask("GET", f"admin/users/{who}")

    def put(self, who: str, **body: Any) -> Answer:
        return self.ask("PUT", f"admin/users/{who}", body)

    def delete(self, who: str) -> Answer:
        return self.ask("DELETE", f"admin/users/{who}")

    def do(self, deed: str, who: str) -> Answer:
        return self.ask("POST", f"admin/users/{who}/{deed}")

    def create(self, **body: Any) -> Answer:
        return self.ask("POST", "admin/users", body)


def as_query(query: dict[str, Any]) -> str:
    return f"?{urlencode(query)}" if query else ""


def account(email: str = ANN) -> Account:
    return Account.objects.select_related("user").get(email_key=identifiers.email_key(email))


def person(email: str = ANN) -> Any:
    return lookup.get_person(account(email).user)


def promote(email: str, *, flag: bool = True) -> None:
    Account.objects.filter(email_key=identifiers.email_key(email)).update(is_super_admin=flag)


def make_superuser(email: str) -> None:
    user = the_user(email)
    user.is_superuser = True
    user.save()
