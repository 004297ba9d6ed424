"""PUT /admin/users/{id}: changes of single fields, verified flags, and revoked sessions."""

import pytest

from authservice.core.models import Account
from tests.admin_api.people import ANN, BOB, OTHER_PHONE, PHONE, account, person
from tests.contract.shapes import MOMENT, fits, is_refusal
from tests.support.client import PASSWORD
from tests.support.flows import prove

pytestmark = pytest.mark.django_db

NEW_VALUES = {
    "first_name": "Anna",
    "last_name": "Cee",
    "name": "Anna Cee",
    "email": "anna@example.com",
    "username": "anna",
    "avatar": "https://example.com/anna.png",
    "phone_number": OTHER_PHONE,
    "active": False,
    "email_verified": True,
    "phone_number_verified": True,
    "is_super_admin": True,
}


def test_change_returns_a_message_and_the_changed_user(root, ann_id):
    answer = root.put(ann_id, name="Anna", active=False)

    assert answer.status == 200
    assert set(answer.data) == {"message", "user"}
    assert answer.data["user"] == root.show(ann_id).data
    assert answer.data["user"]["name"] == "Anna"


@pytest.mark.parametrize("field", NEW_VALUES)
def test_field_is_changed_without_the_others(root, ann, ann_id, field):
    before = root.show(ann_id).data

    assert root.put(ann_id, **{field: NEW_VALUES[field]}).status == 200

    after = root.show(ann_id).data
    automatic = {"updated_at", "token_version"}
    assert {name for name in after if after[name] != before[name]} - automatic == {field}
    assert after[field] == NEW_VALUES[field]
    assert fits(after["updated_at"], MOMENT)


def test_all_fields_are_changed_by_one_request(root, ann_id):
    root.put(ann_id, **NEW_VALUES)

    after = root.show(ann_id).data
    assert {name: after[name] for name in NEW_VALUES} == NEW_VALUES


@pytest.mark.parametrize(
    "body",
    [{}, {"name": None}, dict.fromkeys(NEW_VALUES), {"unknown": 1}, {"unknown": 1, "name": None}],
)
def test_body_without_a_change_is_refused(root, ann_id, body):
    assert is_refusal(root.put(ann_id, **body), 400, "VALIDATION_ERROR")


def test_null_does_not_clear_a_field(root, ann_id):
    root.put(ann_id, phone_number=None, name="Anna")

    after = root.show(ann_id).data
    assert (after["phone_number"], after["name"]) == (PHONE, "Anna")


@pytest.mark.parametrize("field", ["name", "first_name", "last_name", "avatar", "phone_number"])
def test_empty_text_clears_a_field(root, ann_id, field):
    root.put(ann_id, **{field: NEW_VALUES[field]})

    assert root.put(ann_id, **{field: ""}).status == 200

    assert root.show(ann_id).data[field] == ""


@pytest.mark.parametrize("field", ["email", "username"])
@pytest.mark.parametrize("text", ["", "  "])
def test_address_and_username_cannot_be_cleared(root, ann_id, field, text):
    answer = root.put(ann_id, **{field: text})

    assert is_refusal(answer, 400, "VALIDATION_ERROR")
    assert answer.data["message"].startswith(f"{field}: ")


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("email", "no address"),
        ("username", "a"),
        ("avatar", "javascript:alert(1)"),
        ("phone_number", "030 1234"),
        ("name", "a" * 256),
        ("first_name", "a" * 151),
        ("name", "a\x00b"),
        ("name", 7),
        ("email", ["ann@example.com"]),
        *((flag, value) for flag in ("active", "is_super_admin") for value in ("true", 1, 0, [])),
        ("email_verified", "yes"),
        ("phone_number_verified", {}),
    ],
)
def test_value_of_wrong_type_or_form_is_refused(root, ann_id, field, value):
    before = root.show(ann_id).data

    answer = root.put(ann_id, **{field: value})

    assert is_refusal(answer, 400, "VALIDATION_ERROR")
    assert answer.data["message"].startswith(f"{field}: ")
    assert root.show(ann_id).data == before


def test_change_of_an_unknown_user_is_not_found(root):
    assert is_refusal(root.put("999999", name="Anna"), 404, "USER_NOT_FOUND")


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({"email": "BOB@example.com"}, "USER_ALREADY_EXISTS"),
        ({"username": "Bob"}, "USERNAME_ALREADY_EXISTS"),
        ({"phone_number": OTHER_PHONE}, "PHONE_ALREADY_IN_USE"),
    ],
)
def test_identifier_of_another_user_is_refused_with_the_error_of_signup(
    root, api, ann_id, body, code
):
    api.sign_up(BOB, username="bob", phone_number=OTHER_PHONE)
    prove(BOB, OTHER_PHONE)
    before = root.show(ann_id).data

    assert is_refusal(root.put(ann_id, name="Anna", **body), 400, code)

    assert root.show(ann_id).data == before


@pytest.mark.parametrize("body", [{"email": ANN}, {"username": "ann"}, {"phone_number": PHONE}])
def test_identifier_of_the_user_is_accepted_and_changes_nothing(root, ann_id, body):
    assert root.put(ann_id, **body).status == 200
    assert root.show(ann_id).data["updated_at"] is None


def test_identifier_in_other_case_is_stored_and_revokes_no_session(root, api, ann, ann_id):
    root.put(ann_id, email="Ann@Example.com", username="ANN")

    shown = api.get("me", token=ann["access_token"]).data
    assert (shown["email"], shown["username"]) == ("Ann@Example.com", "ANN")


def test_changed_user_logs_in_with_the_new_identifiers_only(root, api, ann_id):
    root.put(ann_id, email="anna@example.com", username="anna")

    for who in ({"email": "anna@example.com"}, {"username": "anna"}):
        assert api.post("login", password=PASSWORD, **who).status == 200
    for who in ({"email": ANN}, {"username": "ann"}):
        assert api.post("login", password=PASSWORD, **who).code == "INVALID_CREDENTIALS"


def test_former_identifiers_are_available_to_other_users(root, api, ann_id):
    root.put(ann_id, email="anna@example.com", username="anna", phone_number="")

    api.sign_up(ANN, username="ann", phone_number=PHONE)


# Verification of addresses and numbers


def verify_both():
    row = account()
    Account.objects.filter(pk=row.pk).update(
        verified_email_key=row.email_key, verified_phone_key=row.phone_key
    )


def verified(root, who):
    shown = root.show(who).data
    return shown["email_verified"], shown["phone_number_verified"]


def test_changed_address_and_number_are_unverified(root, ann_id):
    verify_both()

    root.put(ann_id, email="anna@example.com", phone_number=OTHER_PHONE)

    assert verified(root, ann_id) == (False, False)


def test_restored_address_and_number_are_unverified(root, ann_id):
    verify_both()
    root.put(ann_id, email="anna@example.com", phone_number="")

    root.put(ann_id, email=ANN, phone_number=PHONE)

    assert verified(root, ann_id) == (False, False)


@pytest.mark.parametrize("verified_before", [True, False])
def test_changed_address_and_number_may_be_set_as_verified_in_the_same_request(
    root, ann_id, verified_before
):
    if verified_before:
        verify_both()

    root.put(
        ann_id,
        email="anna@example.com",
        email_verified=True,
        phone_number=OTHER_PHONE,
        phone_number_verified=True,
    )

    assert verified(root, ann_id) == (True, True)


def test_verification_can_be_revoked(root, ann_id):
    verify_both()

    root.put(ann_id, email_verified=False, phone_number_verified=False)

    assert verified(root, ann_id) == (False, False)


def test_verification_that_staff_take_back_and_restore_is_no_proof_by_the_owner(root, ann_id):
    """Another person may own the mailbox now. The first reset removes what was set up before."""
    prove()
    root.put(ann_id, email_verified=False)
    root.put(ann_id, email_verified=True)

    assert person().email_verified is True
    assert person().email_proven is False


def test_address_in_other_case_stays_verified(root, ann_id):
    verify_both()

    root.put(ann_id, email="ANN@example.com")

    assert person().email_verified is True


@pytest.mark.parametrize("body", [{}, {"phone_number": ""}])
def test_missing_number_cannot_be_set_as_verified(root, api, body):
    bob = api.sign_up(BOB)["user"]["id"]

    answer = root.put(bob, phone_number_verified=True, **body)

    assert is_refusal(answer, 400, "VALIDATION_ERROR")


# Revoked sessions


REVOKED = (401, "INVALID_TOKEN")


@pytest.mark.parametrize("body", [{"email": "anna@example.com"}, {"active": False}])
def test_change_of_address_or_suspension_revokes_all_sessions_permanently(
    root, api, ann, ann_id, body
):
    root.put(ann_id, **body)
    root.put(ann_id, active=True)

    assert api.get("me", token=ann["access_token"]).error == REVOKED
    refused = api.post("refresh", refresh_token=ann["refresh_token"])
    assert refused.error == (401, "INVALID_REFRESH_TOKEN")
    assert root.show(ann_id).data["token_version"] == 1


@pytest.mark.parametrize("body", [{"name": "Anna"}, {"phone_number": ""}, {"username": "anna"}])
def test_other_changes_revoke_no_session(root, api, ann, ann_id, body):
    root.put(ann_id, **body)

    assert api.get("me", token=ann["access_token"]).status == 200
    assert root.show(ann_id).data["token_version"] == 0


def test_suspended_user_cannot_log_in(root, api, ann_id):
    root.put(ann_id, active=False)

    answer = api.post("login", email=ANN, password=PASSWORD)

    assert answer.error == (403, "USER_NOT_ACTIVE")
