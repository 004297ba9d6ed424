"""If a second factor is required, the admin API requires a session that began with one."""

from datetime import timedelta

import pytest
from django.apps import apps

from tests.admin_api.people import ANN
from tests.contract.shapes import is_refusal
from tests.support.client import PASSWORD
from tests.twofactor.people import Person

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.skipif(not apps.is_installed("authservice.twofactor"), reason="no second factors"),
]


@pytest.fixture(autouse=True)
def _still(clock):
    """Freezes the time before any token is issued; codes change only when a test forwards it."""


@pytest.fixture
def required(configure):
    return lambda users="super_admins", **more: configure(TWOFACTOR={"REQUIRED": users, **more})


@pytest.mark.parametrize("users", ["super_admins", "everybody"])
def test_user_promoted_after_a_login_without_a_factor_must_log_in_again(
    root, api, ann, ann_id, required, users
):
    root.put(ann_id, is_super_admin=True)
    assert api.get("admin/users", token=ann["access_token"]).status == 200

    required(users)

    for method, path in (("GET", "admin/users"), ("DELETE", f"admin/users/{root.id}")):
        answer = api.request(method, path, token=ann["access_token"])
        assert is_refusal(answer, 403, "REAUTHENTICATION_REQUIRED")
    assert api.get("me", token=ann["access_token"]).status == 200


def test_user_who_is_not_a_super_admin_is_forbidden_if_a_factor_is_required(api, ann, required):
    required("everybody")

    assert api.get("admin/users", token=ann["access_token"]).error == (403, "FORBIDDEN")


def test_super_admin_who_logged_in_with_a_code_may_use_the_admin_api(root, api, clock, required):
    required()
    person = Person(api, root.email, root.token, root.id).enrol()
    clock.forward(seconds=30)
    assert root.users().error == (403, "REAUTHENTICATION_REQUIRED")

    answer = person.verify_login(person.code())

    assert answer.status == 200
    assert api.get("admin/users", token=answer.data["access_token"]).status == 200


def test_super_admin_must_enter_a_code_on_a_remembered_device(root, api, clock, required):
    required(REMEMBER_TTL=timedelta(days=30))
    person = Person(api, root.email, root.token, root.id).enrol()
    clock.forward(seconds=30)
    answer = person.verify_login(person.code(), remember_device=True)
    device = {"X-Device-Token": answer.headers["X-Device-Token"]}

    answer = api.post("login", email=root.email, password=PASSWORD, headers=device)

    assert [challenge["type"] for challenge in answer.data["challenges"]] == ["2fa"]


def test_other_user_enters_no_code_on_a_remembered_device(api, ann, ann_id, clock, required):
    required(REMEMBER_TTL=timedelta(days=30))
    person = Person(api, ANN, ann["access_token"], ann_id).enrol()
    clock.forward(seconds=30)
    answer = person.verify_login(person.code(), remember_device=True)
    device = {"X-Device-Token": answer.headers["X-Device-Token"]}

    answer = api.post("login", email=ANN, password=PASSWORD, headers=device)

    assert answer.data["access_token"]
