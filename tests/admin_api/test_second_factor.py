"""If a second factor is required, the admin API demands a session that began with one."""

from datetime import timedelta

import pytest
from django.apps import apps

from tests.admin_api.people import ANN
from tests.client import PASSWORD
from tests.contract.shapes import is_refusal
from tests.twofactor.people import Person

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.skipif(not apps.is_installed("authservice.twofactor"), reason="no second factors"),
]


@pytest.fixture(autouse=True)
def _still(clock):
    """Codes change when a test says so; the fixture comes before every token."""


@pytest.fixture
def required(configure):
    return lambda whom="super_admins", **more: configure(TWOFACTOR={"REQUIRED": whom, **more})


@pytest.mark.parametrize("whom", ["super_admins", "everybody"])
def test_a_user_promoted_while_signed_in_has_no_use_of_the_admin_api(
    root, api, ann, ann_id, required, whom
):
    root.put(ann_id, is_super_admin=True)
    assert api.get("admin/users", token=ann["access_token"]).status == 200

    required(whom)

    for method, path in (("GET", "admin/users"), ("DELETE", f"admin/users/{root.id}")):
        answer = api.request(method, path, token=ann["access_token"])
        assert is_refusal(answer, 403, "REAUTHENTICATION_REQUIRED")
    assert api.get("me", token=ann["access_token"]).status == 200


def test_other_users_are_forbidden_as_ever(api, ann, required):
    required("everybody")

    assert api.get("admin/users", token=ann["access_token"]).error == (403, "FORBIDDEN")


def test_with_a_code_the_admin_api_opens(root, api, clock, required):
    required()
    person = Person(api, root.email, root.token, root.id).enrol()
    clock.forward(seconds=30)
    assert root.users().error == (403, "REAUTHENTICATION_REQUIRED")

    answer = person.verify_login(person.code())

    assert answer.status == 200
    assert api.get("admin/users", token=answer.data["access_token"]).status == 200


def test_a_remembered_device_does_not_replace_the_code_of_a_super_admin(root, api, clock, required):
    required(REMEMBER_TTL=timedelta(days=30))
    person = Person(api, root.email, root.token, root.id).enrol()
    clock.forward(seconds=30)
    answer = person.verify_login(person.code(), remember_device=True)
    device = {"X-Device-Token": answer.headers["X-Device-Token"]}

    answer = api.post("login", email=root.email, password=PASSWORD, headers=device)

    assert [challenge["type"] for challenge in answer.data["challenges"]] == ["2fa"]


def test_a_remembered_device_spares_others_the_code(api, ann, ann_id, clock, required):
    required(REMEMBER_TTL=timedelta(days=30))
    person = Person(api, ANN, ann["access_token"], ann_id).enrol()
    clock.forward(seconds=30)
    answer = person.verify_login(person.code(), remember_device=True)
    device = {"X-Device-Token": answer.headers["X-Device-Token"]}

    answer = api.post("login", email=ANN, password=PASSWORD, headers=device)

    assert answer.data["access_token"]
