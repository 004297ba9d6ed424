"""A small world whose people do things, and what the log says of it afterwards."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from unittest.mock import patch

from authservice.audit.models import Entry
from authservice.core.credentials import hash_limit
from authservice.kernel import modules
from authservice.kernel.http.operations import Operation
from tests.admin_api.people import Admin
from tests.client import PASSWORD, Answer, Api
from tests.recovery.flows import PHONE, Flows
from tests.recovery.post import Post

ANN, BOB, ROOT = "ann@example.com", "bob@example.com", "root@example.com"
AGENT = "Tester/1.0 (a deed)"


class Named(Api):
    """Requests of a known browser."""

    def request(self, method: str, path: str, body: Any = None, **options: Any) -> Answer:
        headers = {"User-Agent": AGENT, **(options.pop("headers", None) or {})}
        return super().request(method, path, body, headers=headers, **options)


class World:
    """Ann is there from the start, Bob and Root from the moment that they are asked for."""

    def __init__(
        self, api: Api, post: Post, configure: Callable[..., None], leave: ExitStack
    ) -> None:
        self.api, self.post, self.configure, self._leave = api, post, configure, leave
        self.flows = Flows(api, post)
        self.names: dict[str, str] = {}
        self.ann = self._sign_up("ann", ANN, username="ann", phone_number=PHONE)
        self.forget()

    @cached_property
    def root(self) -> Admin:
        made = Admin(self.api, ROOT)
        self.names[made.id] = "root"
        return made

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

    def close_the_post(self) -> None:
        """From here on nobody sends anything."""
        self._leave.enter_context(modules.plugged("messenger", None))

    def hash_elsewhere(self) -> None:
        """From here on other requests hash all the passwords that may be hashed at once."""
        self.configure(CORE={"HASHES_IN_FLIGHT": 1})
        self._leave.enter_context(patch.object(hash_limit, "WAIT", 0.01))
        self._leave.enter_context(hash_limit.hash_slot())

    def deliver(self) -> None:
        """The worker takes every job."""
        jobs, self.post.jobs[:] = self.post.jobs[:], []
        for job in jobs:
            self.post.jobs.append(job)
            self.post.letter(job.kind)
        self.post.jobs.clear()

    def forget(self) -> None:
        Entry.objects.all().delete()
        self.post.jobs.clear()

    def entries(self) -> list[Entry]:
        return list(Entry.objects.order_by("pk"))

    def log(self) -> list[str]:
        """What the log says: "action actor", and the target where there is one."""
        return [self._told(entry) for entry in self.entries()]

    def _told(self, entry: Entry) -> str:
        actor = self._name(entry.actor_id) or entry.actor_type
        target = self._name(entry.target_id)
        return " ".join(filter(None, [entry.action, actor, target]))

    def _name(self, key: str) -> str:
        return self.names.get(key, "somebody" if key else "")

    def _sign_up(self, name: str, email: str, **more: Any) -> Any:
        data = self.api.sign_up(email, **more)
        self.names[data["user"]["id"]] = name
        return data


Act = Callable[[], Answer]


@dataclass(frozen=True)
class Deed:
    """A request to a route, prepared in a world; what it answers and what the log then says."""

    route: str
    name: str
    code: str
    log: tuple[str, ...]
    prepare: Callable[[World], Act]
    delivered: bool

    def __str__(self) -> str:
        return f"{self.route}: {self.name}"


DEEDS: list[Deed] = []


def deed(
    route: str, *log: str, code: str = "", delivered: bool = False
) -> Callable[[Callable[[World], Act]], Callable[[World], Act]]:
    """Registers a deed: `code` is its refusal; `delivered` says that a worker has a part in it."""

    def register(prepare: Callable[[World], Act]) -> Callable[[World], Act]:
        name = prepare.__name__.replace("_", " ")
        DEEDS.append(Deed(route, name, code, log, prepare, delivered))
        return prepare

    return register


def silent(route: str, act: Callable[[World], Answer], name: str = "succeeds") -> None:
    """Registers a success of which the log says nothing."""
    DEEDS.append(Deed(route, name, "", (), lambda world: lambda: act(world), delivered=False))


def refusals(operation: Operation | None) -> Iterable[str]:
    """The codes of the refusals that are a route's own."""
    return {fault.code for fault in operation.faults} if operation else ()


def metadata(entry: Entry) -> dict[str, Any]:
    return json.loads(entry.metadata)
