"""Creating, suspending, reactivating and logging out users, and sending them reset links."""

import pytest
from django.contrib.auth import get_user_model

from authservice.core.messages import kinds
from authservice.core.models import Account
from authservice.core.users.identifiers import email_key
from authservice.kernel import modules
from tests.admin_api.people import ANN, BOB, OTHER_PHONE, PHONE, account
from tests.contract.shapes import ADMIN_USER, fits, is_refusal
from tests.support.client import PASSWORD
from tests.support.flows import NEW, prove

pytestmark = pytest.mark.django_db

NEW_USER = {
    "email": "eve@example.com",
    "username": "eve",
    "name": "Eve Example",
    "first_name": "Eve",
    "last_name": "Example",
    "phone_number": OTHER_PHONE,
}


def reset(api, token, email="eve@example.com"):
    body = {"token": token, "email": email, "new_password": NEW}
    return api.request("POST", "reset-password", body)


# Creation


def test_creation_returns_the_new_user(root):
    answer = root.create(**NEW_USER)

    assert answer.status == 201
    assert fits(answer.data, ADMIN_USER)
    assert {name: answer.data[name] for name in NEW_USER} == NEW_USER
    flags = ("active", "email_verified", "phone_number_verified", "is_super_admin")
    assert [answer.data[flag] for flag in flags] == [True, False, False, False]


def test_creation_requires_only_an_address(root):
    assert root.create(email="eve@example.com").status == 201


def test_creation_without_an_address_is_refused(root):
    assert is_refusal(root.create(username="eve"), 400, "VALIDATION_ERROR")


def test_new_user_cannot_log_in_before_the_link_is_used(root, api):
    root.create(**NEW_USER)

    assert api.post("login", email="eve@example.com", password="").status == 400
    assert api.post("login", email="eve@example.com", password=PASSWORD).status == 401


def test_password_in_the_body_of_a_creation_is_ignored(root, api):
    root.create(**NEW_USER, password=PASSWORD)

    assert api.post("login", email="eve@example.com", password=PASSWORD).status == 401


def test_link_for_a_new_user_sets_a_password_and_verifies_the_address(root, api, post):
    root.create(**NEW_USER)
    assert post.kinds() == [kinds.ACCOUNT_MADE]

    assert reset(api, post.token(kinds.ACCOUNT_MADE)).status == 200

    logged_in = api.post("login", email="eve@example.com", password=NEW)
    assert logged_in.data["user"]["email_verified"] is True


def test_link_for_a_new_user_works_once(root, api, post):
    root.create(**NEW_USER)
    token = post.token(kinds.ACCOUNT_MADE)
    reset(api, token)

    assert reset(api, token).error == (400, "INVALID_TOKEN")


def test_link_for_a_new_user_is_valid_for_seven_days(clock, root, api, post):
    root.create(**NEW_USER)
    token = post.token(kinds.ACCOUNT_MADE)
    clock.forward(days=7, seconds=-1)
    assert reset(api, token).status == 200

    root.token = api.log_in(root.email)["access_token"]
    root.create(email=BOB)
    token = post.token(kinds.ACCOUNT_MADE)
    clock.forward(days=7)
    assert reset(api, token, BOB).error == (400, "TOKEN_EXPIRED")


def test_refused_password_does_not_verify_the_address(root, api, post):
    root.create(**NEW_USER)
    token = post.token(kinds.ACCOUNT_MADE)

    api.request(
        "POST",
        "reset-password",
        {"token": token, "email": "eve@example.com", "new_password": "1"},
    )

    assert account("eve@example.com").verified_email_key == ""


def test_reset_link_verifies_the_address_too(root, api, ann, post):
    api.post("forgot-password", email=ANN)

    reset(api, post.token(kinds.RESET_BY_LINK), ANN)

    assert account().proven_email_key == email_key(ANN)


def test_email_to_a_new_user_is_not_composed_once_there_is_a_password(root, api, post):
    root.create(**NEW_USER)
    reset(api, post.token(kinds.ACCOUNT_MADE))

    assert post.outgoing(kinds.ACCOUNT_MADE) is None


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({"email": "ANN@example.com"}, "USER_ALREADY_EXISTS"),
        ({"email": BOB, "username": "ANN"}, "USERNAME_ALREADY_EXISTS"),
        ({"email": BOB, "phone_number": PHONE}, "PHONE_ALREADY_IN_USE"),
    ],
)
def test_creation_with_identifier_of_another_user_is_refused_with_the_error_of_signup(
    root, ann, post, body, code
):
    prove(phone=PHONE)

    assert is_refusal(root.create(**body), 400, code)
    assert get_user_model().objects.count() == 2
    assert post.jobs == []


def test_creation_without_a_messenger_is_refused(root):
    with modules.plugged("messenger", None):
        assert is_refusal(root.create(**NEW_USER), 501, "EMAIL_NOT_CONFIGURED")


def test_creation_by_staff_is_allowed_if_signup_is_disabled(root, configure):
    configure(CORE={"ALLOW_SIGNUP": False})

    assert root.create(**NEW_USER).status == 201


# Suspension and reactivation


def test_suspended_user_is_logged_out_and_reactivated_user_can_log_in(root, api, ann, ann_id):
    assert fits(root.do("suspend", ann_id).data, {"message": str})
    assert api.get("me", token=ann["access_token"]).error == (401, "INVALID_TOKEN")
    assert root.show(ann_id).data["active"] is False

    assert fits(root.do("reactivate", ann_id).data, {"message": str})
    assert api.get("me", token=ann["access_token"]).error == (401, "INVALID_TOKEN")
    assert api.log_in(ANN)


@pytest.mark.parametrize("action", ["suspend", "reactivate"])
def test_second_suspension_or_reactivation_changes_nothing(root, ann_id, action):
    root.do(action, ann_id)
    before = root.show(ann_id).data

    assert root.do(action, ann_id).status == 200
    assert root.show(ann_id).data == before


# Logout


def test_logout_by_staff_revokes_all_sessions(root, api, ann, ann_id):
    other = api.log_in(ANN)

    assert fits(root.do("logout", ann_id).data, {"message": str})

    for tokens in (ann, other):
        assert api.get("me", token=tokens["access_token"]).error == (401, "INVALID_TOKEN")
        refused = api.post("refresh", refresh_token=tokens["refresh_token"])
        assert refused.code == "INVALID_REFRESH_TOKEN"
    assert api.log_in(ANN)


# Reset links


def test_old_password_works_until_the_reset_link_is_used(root, api, ann_id, post):
    assert fits(root.do("reset-password", ann_id).data, {"message": str})
    assert api.log_in(ANN)

    assert reset(api, post.token(kinds.RESET_BY_LINK), ANN).status == 200

    assert api.post("login", email=ANN, password=NEW).status == 200


def test_suspended_user_gets_no_reset_link(root, ann_id, post):
    root.do("suspend", ann_id)

    assert is_refusal(root.do("reset-password", ann_id), 403, "USER_NOT_ACTIVE")
    assert post.jobs == []


def test_user_without_an_address_gets_no_reset_link(root, ann, ann_id, post):
    Account.objects.filter(pk=account().pk).update(email="", email_key=None, email_claim="")
    get_user_model().objects.filter(pk=ann_id).update(email="")

    assert is_refusal(root.do("reset-password", ann_id), 400, "VALIDATION_ERROR")
    assert post.jobs == []


def test_reset_link_without_a_messenger_is_refused(root, ann_id):
    with modules.plugged("messenger", None):
        assert is_refusal(root.do("reset-password", ann_id), 501, "EMAIL_NOT_CONFIGURED")


@pytest.mark.parametrize("action", ["suspend", "reactivate", "logout", "reset-password"])
def test_action_on_an_unknown_user_is_not_found(root, action):
    assert is_refusal(root.do(action, "999999"), 404, "USER_NOT_FOUND")
