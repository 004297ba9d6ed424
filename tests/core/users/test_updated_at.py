"""`updated_at` changes with the profile only, not with other changes of an account."""

import pytest

from tests.support.client import PASSWORD
from tests.support.flows import NEW

pytestmark = pytest.mark.django_db


def change_password(flows, token):
    body = {"old_password": PASSWORD, "new_password": NEW}
    return flows.api.request("PUT", "change-password", body, token=token)


def verify_email(flows, token):
    return flows.click(flows.email_token())


def verify_phone(flows, token):
    return flows.verify_phone(flows.phone_code())


def log_in(flows, token):
    return flows.api.post("login", email="ann@example.com", password=PASSWORD)


def change_username(flows, token):
    body = {"username": "anna", "password": PASSWORD}
    return flows.api.request("PUT", "change-username", body, token=token)


def respell_email(flows, token):
    return flows.api.post("change-email", email="ANN@example.com", password=PASSWORD, token=token)


@pytest.mark.parametrize(
    "action",
    [change_password, change_username, respell_email, verify_email, verify_phone, log_in],
)
def test_updated_at_is_not_set_by_actions_outside_the_profile(api, flows, ann, action):
    assert action(flows, ann["access_token"]).status == 200

    assert api.get("me", token=ann["access_token"]).data["updated_at"] is None


def test_updated_at_is_not_set_by_a_password_reset(api, flows, ann):
    assert flows.reset(flows.reset_token()).status == 200

    assert api.log_in(password=NEW)["user"]["updated_at"] is None
