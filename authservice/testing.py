"""Tools for tests of host projects: a user factory, an API client, a mailbox and a clock.

Requires the extra `testing`: `pip install authservice[testing]`. Nothing is stubbed: the client
calls the real URLs, and the mailbox builds messages with the code of the worker.
"""

from __future__ import annotations

import datetime
import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, TypeVar
from uuid import uuid4

from django.apps import apps
from django.conf import settings
from django.contrib.auth.hashers import make_password
from django.core.mail import EmailMultiAlternatives
from django.test import Client as DjangoClient
from django.test import RequestFactory
from django.urls import reverse
from django.utils.text import slugify

from authservice.core.login import login
from authservice.core.login.login import Login
from authservice.core.messages import compose
from authservice.core.messages.compose import OutgoingMessage
from authservice.core.models import Account
from authservice.core.sessions.sessions import Tokens
from authservice.core.users import identifiers, lookup
from authservice.core.users.user_model import host
from authservice.kernel import modules
from authservice.kernel.client import Client
from authservice.kernel.levels import CODE, MFA
from authservice.kernel.message_queue import Message, Messenger
from authservice.kernel.secret import Secret
from authservice.kernel.sections import mount

try:
    import time_machine
    from factory.declarations import Sequence
    from factory.django import DjangoModelFactory
except ImportError as missing:
    text = f"authservice.testing requires {missing.name!r}: install authservice[testing]."
    raise ImportError(text) from missing

T = TypeVar("T")
PASSWORD = "correct plum 42 windows"  # noqa: S105 of test users only
_NO_MESSAGE = (
    "No message was sent. Jobs are enqueued at commit: wrap the request in captureOnCommitCallbacks"
    "(execute=True), or in django_capture_on_commit_callbacks of pytest-django."
)
_NO_TOKENS = (
    "The login ended in a challenge ({}) instead of tokens: the user has a second factor, or "
    "TWOFACTOR.REQUIRED requires one. Call log_in(user, second_factor=True)."
)


class UserFactory(DjangoModelFactory[Any]):
    """Users of the host project's model, with an account.

    Accepts the model's own fields and: `password` in plain text, `verified` (True) for the e-mail
    address, `phone_number` with `phone_verified` (True), `is_super_admin` (False).
    """

    class Meta:
        model = settings.AUTH_USER_MODEL
        skip_postgeneration_save = True

    email = Sequence(lambda n: f"user{n}@example.com")  # type: ignore[no-untyped-call]
    username = Sequence(lambda n: f"user{n}")  # type: ignore[no-untyped-call]
    password = PASSWORD
    verified = True
    phone_number = ""
    phone_verified = True
    is_super_admin = False

    @classmethod
    def _create(cls, model_class: Any, *args: Any, **fields: Any) -> Any:
        names = ("verified", "phone_number", "phone_verified", "is_super_admin")
        account = {name: fields.pop(name) for name in names}
        if not host().username:
            fields.pop("username", None)
        user = model_class(**{**fields, "password": make_password(fields["password"])})
        user.save()
        person = lookup.get_person(user)
        proven_key = person.email_key if account["verified"] else ""
        number = account["phone_number"]
        phone_key = identifiers.phone_key(number) if number else None
        Account.objects.filter(pk=user.pk).update(
            verified_email_key=proven_key,
            proven_email_key=proven_key,
            phone_number=number,
            phone_key=phone_key,
            verified_phone_key=phone_key if account["phone_verified"] else None,
            is_super_admin=account["is_super_admin"],
        )
        return user


def make_organization(owner: Any, name: str = "Acme", **members: Any) -> Any:
    """A new organization of this owner; `members` are lists of users by role.

        make_organization(ann, admin=[bob], member=[eve])

    `ApiClient.switch` makes it the active one of a client. Requires the organization module.
    """
    slug = f"{slugify(name)}-{uuid4().hex[:8]}"
    # Not imported: the models exist only if the module is installed.
    organizations = apps.get_model("authservice_organization", "Organization").objects
    organization = organizations.create(name=name, slug=slug, founder=owner)
    memberships = apps.get_model("authservice_organization", "Membership").objects
    for role, users in {"owner": [owner], **members}.items():
        for user in users:
            memberships.create(organization=organization, user=user, role=role)
    return organization


def csrf_headers(client: DjangoClient) -> dict[str, str]:
    """The CSRF header for a state-changing request with Django's test client.

    Gets a new token with `client`, which keeps the cookie. Returns an empty dict if the csrf module
    is not installed, so that a test works with and without the module.
    """
    if not apps.is_installed("authservice.csrf"):
        return {}
    answer = Answer(client.get(reverse("authservice:csrf-token")))
    # Imported here, because the module's settings exist only if it is installed.
    conf = import_module("authservice.csrf.conf").conf
    return {conf.header_name: answer.data["csrf_token"]}


@dataclass
class Answer:
    """A response: `data` of its envelope, and the error `code` or ""."""

    response: Any

    @property
    def status(self) -> int:
        return int(self.response.status_code)

    @property
    def data(self) -> Any:
        return json.loads(self.response.content)["data"]

    @property
    def code(self) -> str:
        return str(self.data.get("code", "")) if isinstance(self.data, dict) else ""


class ApiClient:
    """`client.post("login", email=…, password=…)`: paths below the mount, the body as keywords.

    A path with a slash at its start raises `ValueError`. After `log_in`, requests have the access
    token. `tokens` contains the issued tokens as secrets: `client.tokens.access_token.reveal()`. If
    the csrf module is installed, state-changing requests have a CSRF token automatically.
    """

    def __init__(self) -> None:
        self.tokens: Any = None
        self._django = DjangoClient()

    def log_in(self, user: Any, *, second_factor: bool = False) -> ApiClient:
        """Log in as a user without a password, through `login.enter` as every login.

        With `second_factor`, the session counts as one that began with a second factor, and no
        factor is set up or asked for: for tests of views for staff. Raises the `Fault` of
        `login.enter`, and `AssertionError` if the login ends without tokens, such as in a challenge
        for a second factor.
        """
        person = lookup.get_person(user)
        # Packages that listen to Django's signals, such as django-axes, read the request.
        client = Client(http=RequestFactory().post(reverse("authservice:login")))
        proofs = ("test", CODE, MFA) if second_factor else ("test",)
        outcome: Login = login.enter(person, client, method="test", proofs=proofs)
        self.tokens = outcome.tokens
        if self.tokens is None:
            types = ", ".join(challenge.type for challenge in outcome.challenges)
            raise AssertionError(_NO_TOKENS.format(types))
        return self

    def switch(self, organization: Any) -> ApiClient:
        """Make an organization the active one of the session: further tokens have its claims.

        Raises `AssertionError` if the user is not a member.
        """
        current = self.tokens.refresh_token.reveal()
        answer = self.post("org/switch", org_id=str(organization.pk), refresh_token=current)
        if answer.status != 200:
            raise AssertionError(f"The switch was refused: {answer.data}")
        access_token, refresh_token = answer.data["access_token"], answer.data["refresh_token"]
        self.tokens = Tokens(Secret(access_token), Secret(refresh_token), answer.data["expires_in"])
        return self

    def get(self, path: str, **query: Any) -> Answer:
        return self._request("GET", path, query=query)

    def post(self, path: str, **body: Any) -> Answer:
        return self._request("POST", path, body=body)

    def put(self, path: str, **body: Any) -> Answer:
        return self._request("PUT", path, body=body)

    def delete(self, path: str, **body: Any) -> Answer:
        return self._request("DELETE", path, body=body)

    def _request(self, method: str, path: str, *, body: Any = None, query: Any = None) -> Answer:
        if path.startswith("/"):
            raise ValueError(f"{path!r} begins with a slash: write 'me' for the route /me.")
        token = self.tokens.access_token.reveal() if self.tokens else ""
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        if method != "GET":
            headers.update(csrf_headers(self._django))
        data = json.dumps(body) if body else ""
        content_type = "application/json"
        response = self._django.generic(
            method, mount() + path, data, content_type, query_params=query or None, headers=headers
        )
        return Answer(response)


@dataclass
class Mailbox(Messenger):
    """The messages that the service would have sent. Each job is built immediately, by the code of
    the worker; a deferred job is only added to `jobs`. The properties `last…` raise
    `AssertionError` if there is no such message."""

    messages: list[OutgoingMessage] = field(default_factory=list)
    jobs: list[Message] = field(default_factory=list)
    can_sms: bool = True

    def send(self, message: Message) -> None:
        self.jobs.append(message)
        if message.not_before:
            return
        outgoing = compose.compose(message)
        if outgoing is not None:
            self.messages.append(outgoing)

    @property
    def last(self) -> OutgoingMessage:
        return self._last(self.messages)

    @property
    def mails(self) -> list[EmailMultiAlternatives]:
        """The e-mails as they would be sent. Requires the notification module."""
        build = import_module("authservice.notification.mail").build_in_its_language
        return [build(message) for message in self.messages if message.channel == "email"]

    @property
    def last_mail(self) -> EmailMultiAlternatives:
        return self._last(self.mails)

    @property
    def last_link(self) -> str:
        return self._latest("link")

    @property
    def last_token(self) -> str:
        """The token in the last link."""
        match = re.search(r"[?&]token=([^&]+)", self.last_link)
        return match.group(1) if match else ""

    @property
    def last_code(self) -> str:
        return self._latest("code")

    def _latest(self, name: str) -> str:
        values = [message.context[name] for message in self.messages if name in message.context]
        return str(self._last(values).reveal())

    def _last(self, messages: list[T]) -> T:
        if not messages:
            raise AssertionError("No such message was sent." if self.jobs else _NO_MESSAGE)
        return messages[-1]


@contextmanager
def mailbox() -> Iterator[Mailbox]:
    """Within this context, messages go to the mailbox instead of the installed messenger.

    Jobs are enqueued at commit: wrap the request in `captureOnCommitCallbacks(execute=True)`.
    """
    box = Mailbox()
    with modules.plugged("messenger", box):
        yield box


class Clock:
    """A frozen clock that tests advance: `with Clock() as clock: clock.advance(hours=1)`."""

    def __init__(self, at: datetime.datetime | None = None) -> None:
        self._travel = time_machine.travel(at or datetime.datetime.now(datetime.UTC), tick=False)

    def __enter__(self) -> Clock:
        self._traveller = self._travel.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._travel.stop()

    def advance(self, **duration: float) -> None:
        """Move the clock forward; takes the arguments of `timedelta`."""
        self._traveller.shift(datetime.timedelta(**duration))
