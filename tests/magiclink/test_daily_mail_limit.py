"""Clients from 1,000 addresses a day use up the mails of an account; its owner can still log in."""

import pytest

from authservice.core.credentials import one_time
from authservice.core.messages import compose
from authservice.core.recovery import password_reset
from authservice.kernel import errors
from authservice.kernel.client import Client
from authservice.kernel.secret import Secret
from authservice.magiclink import login
from authservice.magiclink.messages import purpose
from tests.client import PASSWORD
from tests.magiclink.magic import KIND
from tests.recovery.flows import ANN, NEW, Flows, account, move
from tests.recovery.post import query

pytestmark = pytest.mark.django_db

RESET = "reset-link"
REQUEST = {RESET: password_reset.request_by_email, KIND: login.request_link}
PATH = {RESET: "forgot-password", KIND: "magic-link/send"}


@pytest.fixture
def strangers(ann, django_capture_on_commit_callbacks, clock):
    """`strangers()`: requests from 40 addresses that were not seen before, in one moment."""
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
    """`mailbox(kind)`: what every mail of the kind says, the newest last."""
    read = {kind: [] for kind in REQUEST}

    def look(kind):
        for job in [job for job in post.jobs if job.kind in read]:
            read[job.kind].append(compose.compose(job).context)
        post.jobs.clear()
        return read[kind]

    return look


@pytest.fixture
def works(api):
    """Whether a mailed link is valid; nothing is spent."""

    def works(kind, context):
        token = token_of(context)
        if kind == KIND:
            return opens(token)
        body = {"token": token, "email": ANN, "new_password": "short"}
        return api.request("POST", "reset-password", body).code == "INVALID_PASSWORD"

    return works


def opens(token):
    try:
        _, ticket = one_time.find_link(purpose(), Secret(token))
    except errors.Fault:
        return False
    return ticket.spent_at is None


def token_of(context):
    return query(context["link"].reveal())["token"]


def test_an_owner_without_a_known_device_always_has_a_link_that_works(
    strangers, mailbox, works, clock
):
    found = []
    for _ in range(17):
        strangers(clients=60)
        for kind in REQUEST:
            found.append(any(works(kind, context) for context in reversed(mailbox(kind))))
        clock.forward(hours=3)

    assert found == [True] * 34
    assert {kind: len(mailbox(kind)) for kind in REQUEST} == dict.fromkeys(REQUEST, 3 * 31)


@pytest.mark.parametrize("kind", REQUEST)
def test_the_last_mail_of_a_day_works_for_a_day(strangers, mailbox, works, clock, kind):
    strangers()
    *others, last = mailbox(kind)
    clock.forward(hours=23, minutes=59)
    strangers()

    assert "code" not in last
    assert works(kind, last)
    assert not any(works(kind, context) for context in others)
    clock.forward(minutes=1)
    assert not works(kind, last)


def test_the_last_reset_mail_resets_the_password(api, post, strangers, mailbox, clock):
    strangers()
    last = mailbox(RESET)[-1]
    clock.forward(hours=23)
    flows = Flows(api, post)

    assert flows.reset(token_of(last)).status == 200
    assert flows.reset(token_of(last)).code == "INVALID_TOKEN"
    assert api.post("login", email=ANN, password=NEW).status == 200


def test_the_last_magic_link_mail_signs_in(magic, strangers, mailbox, clock):
    strangers()
    last = mailbox(KIND)[-1]
    clock.forward(hours=23)

    assert magic.follow(token_of(last)).data["access_token"]
    assert magic.follow(token_of(last)).code == "INVALID_TOKEN"


def test_a_newer_code_works_beside_the_last_link(magic, strangers, mailbox, clock, api):
    device = api.post("login", email=ANN, password=PASSWORD).headers["X-Device-Token"]
    strangers(clients=30)
    magic.ask(**{"X-Device-Token": device})
    code = mailbox(KIND)[-1]["code"]
    strangers(clients=1)
    assert "code" not in mailbox(KIND)[-1]

    assert magic.type(code.reveal()).status == 200


@pytest.mark.parametrize("kind", REQUEST)
def test_no_later_request_ends_the_last_link(api, strangers, mailbox, works, clock, kind):
    device = api.post("login", email=ANN, password=PASSWORD).headers["X-Device-Token"]
    strangers()
    last = mailbox(kind)[-1]
    api.post(PATH[kind], email=ANN, headers={"X-Device-Token": device})

    assert len(mailbox(kind)) == 32
    assert works(kind, last)


@pytest.mark.parametrize("kind", REQUEST)
def test_a_used_reset_ends_the_last_link(api, post, strangers, mailbox, works, kind):
    strangers()
    last = mailbox(kind)[-1]
    [*_, other, _] = mailbox(RESET)

    assert Flows(api, post).reset(token_of(other)).status == 200

    assert not works(kind, last)


@pytest.mark.parametrize("kind", REQUEST)
def test_a_changed_address_ends_the_last_link(strangers, mailbox, works, kind):
    strangers()
    last = mailbox(kind)[-1]

    move("ann@example.org")

    assert not works(kind, last)
    assert account("ann@example.org")


@pytest.mark.parametrize("kind", REQUEST)
def test_an_owner_with_a_known_device_gets_mail_at_the_first_try(
    api, strangers, mailbox, clock, kind
):
    device = api.post("login", email=ANN, password=PASSWORD).headers["X-Device-Token"]
    got = []
    for _ in range(10):
        strangers()
        before = len(mailbox(kind))
        api.post(PATH[kind], email=ANN, headers={"X-Device-Token": device})
        got.append(len(mailbox(kind)) - before)
        clock.forward(hours=2)

    assert got == [1] * 10
