"""Each deed here is told exactly once, and a refusal is not told as a deed."""

import pytest

from tests.client import PASSWORD
from tests.plugs import fillers
from tests.recovery.flows import NEW, OTHER_PHONE, PHONE, Flows, prove, wrong

pytestmark = pytest.mark.django_db


@pytest.fixture
def told(ann, settings):
    """What the listener hears of from here on."""
    settings.INSTALLED_APPS = [*settings.INSTALLED_APPS, "tests.plugs.apps.Keeper"]
    fillers.kept.clear()
    return fillers.kept


@pytest.fixture
def put(api, ann):
    def put(path, **body):
        return api.request("PUT", path, body, token=ann["access_token"])

    return put


@pytest.mark.parametrize(
    ("body", "actions"),
    [
        ({}, []),
        ({"name": ""}, []),
        ({"name": "Ann Cee"}, ["user.profile.updated"]),
        ({"phone": OTHER_PHONE}, ["user.profile.updated", "user.phone.changed"]),
        ({"avatar": "https://example.com/a"}, ["user.profile.updated", "user.avatar.updated"]),
        ({"name": "Ann", "avatar": "ann.png"}, []),
        ({"name": "Ann", "password": "wrong"}, ["auth.reauthentication.failed"]),
    ],
)
def test_a_profile(put, told, body, actions):
    put("profile", **body)

    assert told == actions


def test_a_taken_number(api, put, told):
    api.sign_up("ben@example.com", phone_number=OTHER_PHONE)
    prove("ben@example.com", phone=OTHER_PHONE)
    told.clear()

    put("profile", phone=OTHER_PHONE)

    assert told == []


@pytest.mark.parametrize(
    ("old", "new", "actions"),
    [
        (PASSWORD, NEW, ["auth.password.changed"]),
        (PASSWORD, "short1!", []),
        ("wrong", NEW, ["auth.password.change_failed"]),
    ],
)
def test_a_changed_password(put, told, old, new, actions):
    put("change-password", old_password=old, new_password=new)

    assert told == actions


def test_a_verified_address(flows, told):
    token = flows.email_token()

    flows.click("A" * 43)
    flows.click(token)
    flows.click(token)

    assert told == ["user.email.verified"]


def test_a_verified_number(flows, told):
    code = flows.phone_code()

    flows.verify_phone(wrong(code))
    flows.verify_phone(code)
    flows.verify_phone(code)

    assert told == ["auth.code.failed", "user.phone.verified", "auth.code.failed"]


@pytest.mark.parametrize("ask", [Flows.reset_token, Flows.reset_code])
def test_a_reset_that_was_asked_for(flows, told, ask):
    prove(phone=PHONE)

    ask(flows)

    assert told == ["auth.password.reset_requested"]


@pytest.mark.parametrize(
    ("ask", "use"),
    [(Flows.reset_token, Flows.reset), (Flows.reset_code, Flows.reset_by_code)],
)
def test_a_reset(flows, told, ask, use):
    prove(phone=PHONE)
    secret = ask(flows)
    told.clear()

    use(flows, secret, new_password="short1!")
    use(flows, secret)
    use(flows, secret)

    assert told == ["auth.password.reset", "auth.password.reset_failed"]
