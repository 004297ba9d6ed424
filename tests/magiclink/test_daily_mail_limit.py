"""Clients from 1,000 addresses a day use up the mails of an account; its owner can still log in."""

import pytest

from authservice.core.credentials import one_time
from authservice.core.messages import compose
from authservice.core.recovery import password_reset
from authservice.kernel import errors
from authservice.kernel.client import Client
from authservice.kernel.secret import Secret
from authservice.magiclink import link_login
from authservice.magiclink.link_login import purpose
from tests.magiclink.magic import KIND
from tests.support.client import PASSWORD
from tests.support.flows import ANN, NEW, Flows, account, move
from tests.support.messenger.post import query

pytestmark = pytest.mark.django_db

RESET = "reset-link"
REQUEST = {RESET: password_reset.request_by_email, KIND: link_login.request_link}
PATH = {RESET: "forgot-password", KIND: "magic-link/send"}


@pytest.fixture
def unknown_clients(ann, django_capture_on_commit_callbacks, clock):
    """`unknown_clients()`: requests from 40 new addresses at the same moment."""
    seen = iter(range(100_000))

    def request(clients=40):
        for number in [next(seen) for _ in range(clients)]:
            client = Client(network=f"10.0.{number // 250}.{number % 250}")
            with django_capture_on_commit_callbacks(execute=True):
                for ask in REQUEST.values():
                    ask(ANN, client)

    return request


@pytest.fixture
def mailbox(post):
    """`mailbox(kind)`: the contexts of all e-mails of the kind, the newest last."""
    read = {kind: [] for kind in REQUEST}

    def look(kind):
        for job in [job for job in post.jobs if job.kind in read]:
            read[job.kind].append(compose.compose(job).context)
        post.jobs.clear()
        return read[kind]

    return look


@pytest.fixture
def works(api):
    """`works(kind, context)`: whether a mailed link is valid; the link is not used."""

    def works(kind, context):
        token = token_of(context)
        if kind == KIND:
            return is_valid(token)
        body = {"token": token, "email": ANN, "new_password": "short"}
        return api.request("POST", "reset-password", body).code == "INVALID_PASSWORD"

    return works


def is_valid(token):
    try:
        _, row = one_time.find_link(purpose(), Secret(token))
    except errors.Fault:
        return False
    return row.spent_at is None


def token_of(context):
    return query(context["link"].reveal())["token"]


def test_owner_without_a_known_device_always_has_a_link_that_works(
    unknown_clients, mailbox, works, clock
):
    found = []
    for _ in range(17):
        unknown_clients(clients=60)
        for kind in REQUEST:
            found.append(any(works(kind, context) for context in reversed(mailbox(kind))))
        clock.forward(hours=3)

    assert found == [True] * 34
    assert {kind: len(mailbox(kind)) for kind in REQUEST} == dict.fromkeys(REQUEST, 3 * 31)


@pytest.mark.parametrize("kind", REQUEST)
def test_last_email_of_a_day_works_for_a_day(unknown_clients, mailbox, works, clock, kind):
    unknown_clients()
    *others, last = mailbox(kind)
    clock.forward(hours=23, minutes=59)
    unknown_clients()

    assert "code" not in last
    assert works(kind, last)
    assert not any(works(kind, context) for context in others)
    clock.forward(minutes=1)
    assert not works(kind, last)


def test_last_reset_email_of_a_day_resets_the_password(api, post, unknown_clients, mailbox, clock):
    unknown_clients()
    last = mailbox(RESET)[-1]
    clock.forward(hours=23)
    flows = Flows(api, post)

    assert flows.reset(token_of(last)).status == 200
    assert flows.reset(token_of(last)).code == "INVALID_TOKEN"
    assert api.post("login", email=ANN, password=NEW).status == 200


def test_last_magic_link_email_of_a_day_logs_in(magic, unknown_clients, mailbox, clock):
    unknown_clients()
    last = mailbox(KIND)[-1]
    clock.forward(hours=23)

    assert magic.follow(token_of(last)).data["access_token"]
    assert magic.follow(token_of(last)).code == "INVALID_TOKEN"


def test_newer_code_works_beside_the_last_link(magic, unknown_clients, mailbox, clock, api):
    device = api.post("login", email=ANN, password=PASSWORD).headers["X-Device-Token"]
    unknown_clients(clients=30)
    magic.ask(**{"X-Device-Token": device})
    code = mailbox(KIND)[-1]["code"]
    unknown_clients(clients=1)
    assert "code" not in mailbox(KIND)[-1]

    assert magic.type(code.reveal()).status == 200


@pytest.mark.parametrize("kind", REQUEST)
def test_later_request_does_not_end_the_last_link(
    api, unknown_clients, mailbox, works, clock, kind
):
    device = api.post("login", email=ANN, password=PASSWORD).headers["X-Device-Token"]
    unknown_clients()
    last = mailbox(kind)[-1]
    api.post(PATH[kind], email=ANN, headers={"X-Device-Token": device})

    assert len(mailbox(kind)) == 32
    assert works(kind, last)


@pytest.mark.parametrize("kind", REQUEST)
def test_used_reset_link_ends_the_last_link(api, post, unknown_clients, mailbox, works, kind):
    unknown_clients()
    last = mailbox(kind)[-1]
    [*_, other, _] = mailbox(RESET)

    assert Flows(api, post).reset(token_of(other)).status == 200

    assert not works(kind, last)


@pytest.mark.parametrize("kind", REQUEST)
def test_changed_address_ends_the_last_link(unknown_clients, mailbox, works, kind):
    unknown_clients()
    last = mailbox(kind)[-1]

    move("ann@example.org")

    assert not works(kind, last)
    assert account("ann@example.org")


@pytest.mark.parametrize("kind", REQUEST)
def test_owner_with_a_known_device_gets_an_email_at_the_first_request(
    api, unknown_clients, mailbox, clock, kind
):
    device = api.post("login", email=ANN, password=PASSWORD).headers["X-Device-Token"]
    got = []
    for _ in range(10):
        unknown_clients()
        before = len(mailbox(kind))
        api.post(PATH[kind], email=ANN, headers={"X-Device-Token": device})
        got.append(len(mailbox(kind)) - before)
        clock.forward(hours=2)

    assert got == [1] * 10
