"""Each action is recorded exactly once, and a refused action is not recorded as done."""

import pytest

from tests.support.client import PASSWORD
from tests.support.flows import NEW, OTHER_PHONE, PHONE, Flows, prove, wrong
from tests.support.modules import fillers

pytestmark = pytest.mark.django_db


@pytest.fixture
def events(ann, settings):
    """The actions of all events recorded from here on."""
    settings.INSTALLED_APPS = [
        *settings.INSTALLED_APPS,
        "tests.support.modules.apps.RecordingListener",
    ]
    fillers.recorded.clear()
    return fillers.recorded


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
def test_profile_change_is_recorded(put, events, body, actions):
    put("profile", **body)

    assert events == actions


def test_taken_number_is_not_recorded(api, put, events):
    api.sign_up("ben@example.com", phone_number=OTHER_PHONE)
    prove("ben@example.com", phone=OTHER_PHONE)
    events.clear()

    put("profile", phone=OTHER_PHONE)

    assert events == []


@pytest.mark.parametrize(
    ("old", "new", "actions"),
    [
        (PASSWORD, NEW, ["auth.password.changed"]),
        (PASSWORD, "short1!", []),
        ("wrong", NEW, ["auth.password.change_failed"]),
    ],
)
def test_password_change_is_recorded(put, events, old, new, actions):
    put("change-password", old_password=old, new_password=new)

    assert events == actions


def test_verified_address_is_recorded(flows, events):
    token = flows.email_token()

    flows.click("A" * 43)
    flows.click(token)
    flows.click(token)

    assert events == ["user.email.verified"]


def test_verified_number_is_recorded(flows, events):
    code = flows.phone_code()

    flows.verify_phone(wrong(code))
    flows.verify_phone(code)
    flows.verify_phone(code)

    assert events == ["auth.code.failed", "user.phone.verified", "auth.code.failed"]


@pytest.mark.parametrize("ask", [Flows.reset_token, Flows.reset_code])
def test_requested_reset_is_recorded(flows, events, ask):
    prove(phone=PHONE)

    ask(flows)

    assert events == ["auth.password.reset_requested"]


@pytest.mark.parametrize(
    ("ask", "use"),
    [(Flows.reset_token, Flows.reset), (Flows.reset_code, Flows.reset_by_code)],
)
def test_reset_is_recorded(flows, events, ask, use):
    prove(phone=PHONE)
    secret = ask(flows)
    events.clear()

    use(flows, secret, new_password="short1!")
    use(flows, secret)
    use(flows, secret)

    assert events == ["auth.password.reset", "auth.password.reset_failed"]
