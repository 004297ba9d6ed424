"""Test data for the audit log: a few users, the cases (requests) and the entries they write."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from unittest.mock import patch

from django.test import override_settings

from authservice.audit.models import Entry
from authservice.core.credentials import passwords
from authservice.kernel import modules
from authservice.kernel.http.operations import Operation
from tests.admin_api.people import Admin
from tests.support.client import PASSWORD, Answer, Api
from tests.support.flows import PHONE, Flows
from tests.support.messenger.post import Post

ANN, BOB, ROOT = "ann@example.com", "bob@example.com", "root@example.com"
WRONG = "no password of anybody"  # occurs in no text of an entry
AGENT = "Tester/1.0 (an action)"


class NamedApi(Api):
    """Names the same `User-Agent` in every request."""

    def request(self, method: str, path: str, body: Any = None, **options: Any) -> Answer:
        headers = {"User-Agent": AGENT, **(options.pop("headers", None) or {})}
        return super().request(method, path, body, headers=headers, **options)


class World:
    """Users and requests of a case. Bob and Root sign up when their attributes are first read."""

    def __init__(
        self, api: Api, post: Post, configure: Callable[..., None], stack: ExitStack
    ) -> None:
        self.api, self.post, self.configure, self._stack = api, post, configure, stack
        self.flows = Flows(api, post)
        self.names: dict[str, str] = {}
        self.ann = self._sign_up("ann", ANN, username="ann", phone_number=PHONE)
        self.forget()

    @cached_property
    def root(self) -> Admin:
        admin = Admin(self.api, ROOT)
        self.names[admin.id] = "root"
        return admin

    @cached_property
    def bob(self) -> Any:
        return self._sign_up("bob", BOB)

    @property
    def ann_id(self) -> str:
        return self.ann["user"]["id"]

    @property
    def token(self) -> str:
        """Ann's access token."""
        return self.ann["access_token"]

    def as_ann(self, method: str, path: str, **body: Any) -> Answer:
        return self.api.request(method, path, body or None, token=self.token)

    def log_in(self, email: str = ANN, password: str = PASSWORD, **more: Any) -> Answer:
        return self.api.post("login", email=email, password=password, **more)

    def disable_messenger(self) -> None:
        """From now on no messenger is installed."""
        self._stack.enter_context(modules.plugged("messenger", None))

    def validate(self, *validators: dict[str, Any]) -> None:
        """From now on these are the validators of passwords."""
        self._stack.enter_context(override_settings(AUTH_PASSWORD_VALIDATORS=validators))

    def occupy_hash_slots(self, **core: Any) -> None:
        """From now on other requests occupy all slots for hashing passwords; `core` are further
        settings."""
        self.configure(CORE={"HASHES_IN_FLIGHT": 1, **core})
        self._stack.enter_context(patch.object(passwords, "WAIT", 0.01))
        self._stack.enter_context(passwords.hash_slot())

    def deliver(self) -> None:
        """Run every queued job, as the worker does."""
        jobs, self.post.jobs[:] = self.post.jobs[:], []
        for job in jobs:
            self.post.jobs.append(job)
            self.post.outgoing(job.kind)
        self.post.jobs.clear()

    def forget(self) -> None:
        Entry.objects.all().delete()
        self.post.jobs.clear()

    def entries(self) -> list[Entry]:
        return list(Entry.objects.order_by("pk"))

    def log(self) -> list[str]:
        """One line per entry: "action actor", followed by the target if there is one."""
        return [self._line(entry) for entry in self.entries()]

    def _line(self, entry: Entry) -> str:
        actor = self._name(entry.actor_id) or entry.actor_type
        target = self._name(entry.target_id)
        return " ".join(filter(None, [entry.action, actor, target]))

    def _name(self, key: str) -> str:
        return self.names.get(key, "new_user" if key else "")

    def _sign_up(self, name: str, email: str, **more: Any) -> Any:
        data = self.api.sign_up(email, **more)
        self.names[data["user"]["id"]] = name
        return data


Act = Callable[[], Answer]


@dataclass(frozen=True)
class Case:
    """A request to a route: its preparation, the expected error code and the expected entries."""

    route: str
    name: str
    code: str
    log: tuple[str, ...]
    prepare: Callable[[World], Act]
    delivered: bool

    def __str__(self) -> str:
        return f"{self.route}: {self.name}"


CASES: list[Case] = []


def case(
    route: str, *log: str, code: str = "", delivered: bool = False
) -> Callable[[Callable[[World], Act]], Callable[[World], Act]]:
    """Register a case: `code` is the expected error, `delivered` whether a worker runs its jobs."""

    def register(prepare: Callable[[World], Act]) -> Callable[[World], Act]:
        name = prepare.__name__.replace("_", " ")
        CASES.append(Case(route, name, code, log, prepare, delivered))
        return prepare

    return register


def silent(route: str, act: Callable[[World], Answer], name: str = "succeeds") -> None:
    """Register a successful request that writes no entry."""
    CASES.append(Case(route, name, "", (), lambda world: lambda: act(world), delivered=False))


def refusals(operation: Operation | None) -> Iterable[str]:
    """The error codes that the route itself declares."""
    return {fault.code for fault in operation.faults} if operation else ()


def metadata(entry: Entry) -> dict[str, Any]:
    return json.loads(entry.metadata)
