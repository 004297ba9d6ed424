"""What goes beyond the contract: creating, suspending, signing out, mailing a link."""

import pytest
from django.contrib.auth import get_user_model

from authservice.core.models import Account
from authservice.core.users.identifiers import email_key
from authservice.kernel import message_queue, modules
from tests.admin_api.people import ANN, BOB, OTHER_PHONE, PHONE, account
from tests.client import PASSWORD
from tests.contract.shapes import ADMIN_USER, fits, is_refusal
from tests.recovery.flows import NEW

pytestmark = pytest.mark.django_db

NEWCOMER = {
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


# Creating


def test_a_created_user_is_answered_in_full(root):
    answer = root.create(**NEWCOMER)

    assert answer.status == 201
    assert fits(answer.data, ADMIN_USER)
    assert {name: answer.data[name] for name in NEWCOMER} == NEWCOMER
    flags = ("active", "email_verified", "phone_number_verified", "is_super_admin")
    assert [answer.data[flag] for flag in flags] == [True, False, False, False]


def test_an_address_is_enough(root):
    assert root.create(email="eve@example.com").status == 201


def test_without_an_address_nobody_is_created(root):
    assert is_refusal(root.create(username="eve"), 400, "VALIDATION_ERROR")


def test_no_password_opens_before_the_link_was_used(root, api):
    root.create(**NEWCOMER)

    assert api.post("login", email="eve@example.com", password="").status == 400
    assert api.post("login", email="eve@example.com", password=PASSWORD).status == 401


def test_a_password_in_the_body_is_not_looked_at(root, api):
    root.create(**NEWCOMER, password=PASSWORD)

    assert api.post("login", email="eve@example.com", password=PASSWORD).status == 401


def test_the_mailed_link_sets_a_password_and_proves_the_address(root, api, post):
    root.create(**NEWCOMER)
    assert post.kinds() == [message_queue.ACCOUNT_MADE]

    assert reset(api, post.token(message_queue.ACCOUNT_MADE)).status == 200

    signed_in = api.post("login", email="eve@example.com", password=NEW)
    assert signed_in.data["user"]["email_verified"] is True


def test_the_link_works_once(root, api, post):
    root.create(**NEWCOMER)
    token = post.token(message_queue.ACCOUNT_MADE)
    reset(api, token)

    assert reset(api, token).error == (400, "INVALID_TOKEN")


def test_the_link_lives_for_seven_days(clock, root, api, post):
    root.create(**NEWCOMER)
    token = post.token(message_queue.ACCOUNT_MADE)
    clock.forward(days=7, seconds=-1)
    assert reset(api, token).status == 200

    root.token = api.log_in(root.email)["access_token"]
    root.create(email=BOB)
    token = post.token(message_queue.ACCOUNT_MADE)
    clock.forward(days=7)
    assert reset(api, token, BOB).error == (400, "TOKEN_EXPIRED")


def test_a_refused_password_proves_nothing(root, api, post):
    root.create(**NEWCOMER)
    token = post.token(message_queue.ACCOUNT_MADE)

    api.request(
        "POST",
        "reset-password",
        {"token": token, "email": "eve@example.com", "new_password": "1"},
    )

    assert account("eve@example.com").verified_email_key == ""


def test_an_ordinary_reset_link_proves_the_address_too(root, api, ann, post):
    api.post("forgot-password", email=ANN)

    reset(api, post.token(message_queue.RESET_BY_LINK), ANN)

    assert account().proven_email_key == email_key(ANN)


def test_the_letter_is_not_written_once_there_is_a_password(root, api, post):
    root.create(**NEWCOMER)
    reset(api, post.token(message_queue.ACCOUNT_MADE))

    assert post.letter(message_queue.ACCOUNT_MADE) is None


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({"email": "ANN@example.com"}, "USER_ALREADY_EXISTS"),
        ({"email": BOB, "username": "ANN"}, "USERNAME_ALREADY_EXISTS"),
        ({"email": BOB, "phone_number": PHONE}, "PHONE_ALREADY_IN_USE"),
    ],
)
def test_what_another_has_is_refused_as_at_sign_up(root, ann, post, body, code):
    assert is_refusal(root.create(**body), 400, code)
    assert get_user_model().objects.count() == 2
    assert post.jobs == []


def test_where_nothing_is_mailed_nobody_is_created(root):
    with modules.plugged("messenger", None):
        assert is_refusal(root.create(**NEWCOMER), 501, "EMAIL_NOT_CONFIGURED")


def test_staff_create_where_nobody_may_sign_up(root, configure):
    configure(CORE={"ALLOW_SIGNUP": False})

    assert root.create(**NEWCOMER).status == 201


# Suspending and reactivating


def test_a_suspended_user_is_out_and_a_reactivated_one_may_come_back(root, api, ann, ann_id):
    assert fits(root.do("suspend", ann_id).data, {"message": str})
    assert api.get("me", token=ann["access_token"]).error == (401, "INVALID_TOKEN")
    assert root.show(ann_id).data["active"] is False

    assert fits(root.do("reactivate", ann_id).data, {"message": str})
    assert api.get("me", token=ann["access_token"]).error == (401, "INVALID_TOKEN")
    assert api.log_in(ANN)


@pytest.mark.parametrize("deed", ["suspend", "reactivate"])
def test_a_second_time_changes_nothing(root, ann_id, deed):
    root.do(deed, ann_id)
    before = root.show(ann_id).data

    assert root.do(deed, ann_id).status == 200
    assert root.show(ann_id).data == before


# Signing out


def test_all_sign_ins_end(root, api, ann, ann_id):
    other = api.log_in(ANN)

    assert fits(root.do("logout", ann_id).data, {"message": str})

    for tokens in (ann, other):
        assert api.get("me", token=tokens["access_token"]).error == (401, "INVALID_TOKEN")
        refused = api.post("refresh", refresh_token=tokens["refresh_token"])
        assert refused.code == "INVALID_REFRESH_TOKEN"
    assert api.log_in(ANN)


# A link to a new password


def test_a_link_is_mailed_and_the_old_password_works_until_it_is_used(root, api, ann_id, post):
    assert fits(root.do("reset-password", ann_id).data, {"message": str})
    assert api.log_in(ANN)

    assert reset(api, post.token(message_queue.RESET_BY_LINK), ANN).status == 200

    assert api.post("login", email=ANN, password=NEW).status == 200


def test_who_is_suspended_is_mailed_nothing(root, ann_id, post):
    root.do("suspend", ann_id)

    assert is_refusal(root.do("reset-password", ann_id), 403, "USER_NOT_ACTIVE")
    assert post.jobs == []


def test_who_has_no_address_is_mailed_nothing(root, ann, ann_id, post):
    Account.objects.filter(pk=account().pk).update(email="", email_key=None, email_claim="")
    get_user_model().objects.filter(pk=ann_id).update(email="")

    assert is_refusal(root.do("reset-password", ann_id), 400, "VALIDATION_ERROR")
    assert post.jobs == []


def test_where_nothing_is_mailed_it_says_so(root, ann_id):
    with modules.plugged("messenger", None):
        assert is_refusal(root.do("reset-password", ann_id), 501, "EMAIL_NOT_CONFIGURED")


@pytest.mark.parametrize("deed", ["suspend", "reactivate", "logout", "reset-password"])
def test_nobody_is_user_not_found(root, deed):
    assert is_refusal(root.do(deed, "999999"), 404, "USER_NOT_FOUND")
