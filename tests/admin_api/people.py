"""Users of the tests of the admin API: super admins and the users whom they manage."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

import pytest

from authservice.core.models import Account
from authservice.core.users import identifiers, lookup
from tests.support.client import Answer, Api
from tests.support.people import has, the_user

ANN, BOB, ROOT = "ann@example.com", "bob@example.com", "root@example.com"
PHONE, OTHER_PHONE = "+4930123456", "+4930123457"
needs_superusers = pytest.mark.skipif(not has("is_superuser"), reason="this host has no superusers")


class Admin:
    """A logged-in super admin: `admin.put(ann_id, name="Ann")`."""

    def __init__(self, api: Api, email: str) -> None:
        self.api, self.email = api, email
        # Kept here, since some tests demote or delete the admin.
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

    def do(self, action: str, who: str) -> Answer:
        return self.ask("POST", f"admin/users/{who}/{action}")

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
