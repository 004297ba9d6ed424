"""Code of the host project that raises: in every signal, hook and slot that there is."""

from dataclasses import fields

import pytest
from django.contrib.auth import get_user_model
from django.contrib.auth import signals as django_signals
from django.dispatch import Signal

from authservice import signals
from authservice.core.conf import Core
from authservice.core.models import Account, Session
from authservice.kernel import modules
from authservice.kernel.interfaces import SessionData
from tests.support.client import PASSWORD

pytestmark = [pytest.mark.once, pytest.mark.django_db(transaction=True)]
NEW = "another plum tart 43"
BOB = "bob@example.com"
SIGNALS = [found for found in vars(signals).values() if isinstance(found, Signal)]
HOOKS = [field.name for field in fields(Core) if "hook" in field.name]


class Broken(Exception):
    pass


class Raising:
    """Raises whatever it is used for, but for the description of the API."""

    faults = ()

    def header(self):
        return ""

    def __call__(self, *_, **__):
        raise Broken

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return Raising()


def broken(*_, **__):
    raise Broken


def tour(api, tokens):
    """Every kind of change, with a user who is signed in; the answers by name."""
    access = tokens["access_token"]
    return {
        "login": api.post("login", email="ann@example.com", password=PASSWORD),
        "signup": api.post("signup", email=BOB, password=PASSWORD),
        "refresh": api.post("refresh", refresh_token=tokens["refresh_token"]),
        "change": api.request(
            "PUT",
            "change-password",
            {"old_password": PASSWORD, "new_password": NEW},
            token=access,
        ),
        "logout": api.post("logout", token=access),
    }


def assert_whole(api, tokens, answers):
    """What the responses say is what is stored."""
    done = {name: answer.status < 300 for name, answer in answers.items()}
    assert all(done[name] or answer.status >= 400 for name, answer in answers.items())
    assert get_user_model().objects.count() == Account.objects.count() == 1 + done["signup"]
    assert Session.objects.count() == 1 + done["signup"] + done["login"]
    password = NEW if done["change"] else PASSWORD
    assert api.post("login", email="ann@example.com", password=password).status == 200
    if done["signup"]:
        assert api.post("login", email=BOB, password=PASSWORD).status == 200
    assert api.get("me", token=tokens["access_token"]).status == (401 if done["logout"] else 200)
    refresh = answers["refresh"].data if done["refresh"] else tokens
    status = 401 if done["logout"] else 200
    assert api.post("refresh", refresh_token=refresh["refresh_token"]).status == status


def test_raising_receivers_of_all_signals_change_nothing(robust):
    tokens = robust.sign_up()
    for signal in SIGNALS:
        signal.connect(broken)
    try:
        answers = tour(robust, tokens)
    finally:
        for signal in SIGNALS:
            signal.disconnect(broken)

    assert [answer.status for answer in answers.values()] == [200, 201, 200, 200, 200]
    assert_whole(robust, tokens, answers)


@pytest.mark.parametrize("name", ["user_logged_in", "user_logged_out", "user_login_failed"])
def test_raising_receiver_of_django_leaves_nothing_half_done(robust, name):
    tokens = robust.sign_up()
    signal = getattr(django_signals, name)
    signal.connect(broken)
    try:
        answers = tour(robust, tokens)
    finally:
        signal.disconnect(broken)

    assert_whole(robust, tokens, answers)


@pytest.mark.parametrize("slot", sorted(set(modules.SLOTS) - {"session_data"}))
def test_raising_slot_leaves_nothing_half_done(robust, slot):
    tokens = robust.sign_up()

    with modules.plugged(slot, Raising()):
        answers = tour(robust, tokens)

    assert_whole(robust, tokens, answers)


def test_raising_slot_of_the_claims_leaves_nothing_half_done(robust):
    tokens = robust.sign_up()

    class Claims(SessionData):
        def claims(self, person, session):
            raise Broken

    with modules.plugged("session_data", Claims()):
        answers = tour(robust, tokens)

    assert_whole(robust, tokens, answers)


def test_raising_slot_of_the_response_leaves_a_whole_account(robust):
    """It is called after the commit, so the client is refused although the account exists."""

    class Extras(SessionData):
        def extras(self, person, current_session):
            raise Broken

    with modules.plugged("session_data", Extras()):
        assert robust.post("signup", email=BOB, password=PASSWORD).status == 500

    assert robust.post("login", email=BOB, password=PASSWORD).status == 200
    assert get_user_model().objects.count() == Account.objects.count() == 1


@pytest.mark.parametrize("hook", HOOKS)
def test_raising_hook_leaves_nothing_half_done(robust, configure, hook):
    tokens = robust.sign_up()
    path = f"{__name__}.{broken.__name__}"
    # LOGIN_HOOK_PREPARE is only called if there is a LOGIN_HOOK.
    configure(CORE={"LOGIN_HOOK": path, hook.upper(): path})
    answers = tour(robust, tokens)

    configure(CORE={})

    assert_whole(robust, tokens, answers)
