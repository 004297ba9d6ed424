"""`updated_at` tells of changes to the profile, and of nothing else that happens to an account."""

import pytest

from tests.client import PASSWORD
from tests.recovery.flows import NEW

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


@pytest.mark.parametrize("deed", [change_password, verify_email, verify_phone, log_in])
def test_other_deeds_are_no_update(api, flows, ann, deed):
    assert deed(flows, ann["access_token"]).status == 200

    assert api.get("me", token=ann["access_token"]).data["updated_at"] is None


def test_a_reset_is_no_update(api, flows, ann):
    assert flows.reset(flows.reset_token()).status == 200

    assert api.log_in(password=NEW)["user"]["updated_at"] is None
