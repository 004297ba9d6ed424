"""PUT /admin/users/{id}: what may be changed, and what is refused."""

import pytest

from authservice.core.models import Account
from tests.admin_api.people import ANN, BOB, OTHER_PHONE, PHONE, account, person
from tests.client import PASSWORD
from tests.contract.shapes import MOMENT, fits, is_refusal

pytestmark = pytest.mark.django_db

WANTED = {
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


def test_a_success_is_200_with_a_message_and_the_changed_user(root, ann_id):
    answer = root.put(ann_id, name="Anna", active=False)

    assert answer.status == 200
    assert set(answer.data) == {"message", "user"}
    assert answer.data["user"] == root.show(ann_id).data
    assert answer.data["user"]["name"] == "Anna"


@pytest.mark.parametrize("field", WANTED)
def test_each_field_is_changed_alone(root, ann, ann_id, field):
    before = root.show(ann_id).data

    assert root.put(ann_id, **{field: WANTED[field]}).status == 200

    after = root.show(ann_id).data
    moving = {"updated_at", "token_version"}
    assert {name for name in after if after[name] != before[name]} - moving == {field}
    assert after[field] == WANTED[field]
    assert fits(after["updated_at"], MOMENT)


def test_all_fields_are_changed_together(root, ann_id):
    root.put(ann_id, **WANTED)

    after = root.show(ann_id).data
    assert {name: after[name] for name in WANTED} == WANTED


@pytest.mark.parametrize(
    "body",
    [{}, {"name": None}, dict.fromkeys(WANTED), {"unknown": 1}, {"unknown": 1, "name": None}],
)
def test_nothing_to_change_is_refused(root, ann_id, body):
    assert is_refusal(root.put(ann_id, **body), 400, "VALIDATION_ERROR")


def test_null_never_clears(root, ann_id):
    root.put(ann_id, phone_number=None, name="Anna")

    after = root.show(ann_id).data
    assert (after["phone_number"], after["name"]) == (PHONE, "Anna")


@pytest.mark.parametrize("field", ["name", "first_name", "last_name", "avatar", "phone_number"])
def test_an_empty_text_clears(root, ann_id, field):
    root.put(ann_id, **{field: WANTED[field]})

    assert root.put(ann_id, **{field: ""}).status == 200

    assert root.show(ann_id).data[field] == ""


@pytest.mark.parametrize("field", ["email", "username"])
@pytest.mark.parametrize("text", ["", "  "])
def test_an_address_and_a_username_cannot_be_cleared(root, ann_id, field, text):
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
def test_what_is_not_of_the_type_or_form_is_refused(root, ann_id, field, value):
    before = root.show(ann_id).data

    answer = root.put(ann_id, **{field: value})

    assert is_refusal(answer, 400, "VALIDATION_ERROR")
    assert answer.data["message"].startswith(f"{field}: ")
    assert root.show(ann_id).data == before


def test_nobody_is_user_not_found(root):
    assert is_refusal(root.put("999999", name="Anna"), 404, "USER_NOT_FOUND")


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({"email": "BOB@example.com"}, "USER_ALREADY_EXISTS"),
        ({"username": "Bob"}, "USERNAME_ALREADY_EXISTS"),
        ({"phone_number": OTHER_PHONE}, "PHONE_ALREADY_IN_USE"),
    ],
)
def test_what_another_has_is_refused_as_at_sign_up(root, api, ann_id, body, code):
    api.sign_up(BOB, username="bob", phone_number=OTHER_PHONE)
    before = root.show(ann_id).data

    assert is_refusal(root.put(ann_id, name="Anna", **body), 400, code)

    assert root.show(ann_id).data == before


@pytest.mark.parametrize("body", [{"email": ANN}, {"username": "ann"}, {"phone_number": PHONE}])
def test_ones_own_is_no_other(root, ann_id, body):
    assert root.put(ann_id, **body).status == 200
    assert root.show(ann_id).data["updated_at"] is None


def test_another_spelling_of_ones_own_is_stored_and_ends_nothing(root, api, ann, ann_id):
    root.put(ann_id, email="Ann@Example.com", username="ANN")

    shown = api.get("me", token=ann["access_token"]).data
    assert (shown["email"], shown["username"]) == ("Ann@Example.com", "ANN")


def test_a_changed_person_signs_in_by_the_new_names_only(root, api, ann_id):
    root.put(ann_id, email="anna@example.com", username="anna")

    for who in ({"email": "anna@example.com"}, {"username": "anna"}):
        assert api.post("login", password=PASSWORD, **who).status == 200
    for who in ({"email": ANN}, {"username": "ann"}):
        assert api.post("login", password=PASSWORD, **who).code == "INVALID_CREDENTIALS"


def test_names_that_were_given_up_are_free(root, api, ann_id):
    root.put(ann_id, email="anna@example.com", username="anna", phone_number="")

    api.sign_up(ANN, username="ann", phone_number=PHONE)


# Verified addresses and numbers


def prove():
    kept = account()
    Account.objects.filter(pk=kept.pk).update(
        verified_email_key=kept.email_key, verified_phone_key=kept.phone_key
    )


def proofs(root, who):
    shown = root.show(who).data
    return shown["email_verified"], shown["phone_number_verified"]


def test_a_changed_address_or_number_is_unverified(root, ann_id):
    prove()

    root.put(ann_id, email="anna@example.com", phone_number=OTHER_PHONE)

    assert proofs(root, ann_id) == (False, False)


def test_an_old_address_or_number_that_comes_back_is_unverified(root, ann_id):
    prove()
    root.put(ann_id, email="anna@example.com", phone_number="")

    root.put(ann_id, email=ANN, phone_number=PHONE)

    assert proofs(root, ann_id) == (False, False)


@pytest.mark.parametrize("proven", [True, False])
def test_the_same_body_may_set_the_new_one_verified(root, ann_id, proven):
    if proven:
        prove()

    root.put(
        ann_id,
        email="anna@example.com",
        email_verified=True,
        phone_number=OTHER_PHONE,
        phone_number_verified=True,
    )

    assert proofs(root, ann_id) == (True, True)


def test_a_proof_is_taken_back(root, ann_id):
    prove()

    root.put(ann_id, email_verified=False, phone_number_verified=False)

    assert proofs(root, ann_id) == (False, False)


def test_another_spelling_keeps_the_proof(root, ann_id):
    prove()

    root.put(ann_id, email="ANN@example.com")

    assert person().email_verified is True


@pytest.mark.parametrize("body", [{}, {"phone_number": ""}])
def test_no_number_is_no_verified_one(root, api, body):
    bob = api.sign_up(BOB)["user"]["id"]

    answer = root.put(bob, phone_number_verified=True, **body)

    assert is_refusal(answer, 400, "VALIDATION_ERROR")


# What ends sign-ins


OVER = (401, "INVALID_TOKEN")


@pytest.mark.parametrize("body", [{"email": "anna@example.com"}, {"active": False}])
def test_it_ends_every_sign_in_for_good(root, api, ann, ann_id, body):
    root.put(ann_id, **body)
    root.put(ann_id, active=True)

    assert api.get("me", token=ann["access_token"]).error == OVER
    refused = api.post("refresh", refresh_token=ann["refresh_token"])
    assert refused.error == (401, "INVALID_REFRESH_TOKEN")
    assert root.show(ann_id).data["token_version"] == 1


@pytest.mark.parametrize("body", [{"name": "Anna"}, {"phone_number": ""}, {"username": "anna"}])
def test_other_changes_end_none(root, api, ann, ann_id, body):
    root.put(ann_id, **body)

    assert api.get("me", token=ann["access_token"]).status == 200
    assert root.show(ann_id).data["token_version"] == 0


def test_a_suspended_user_cannot_sign_in(root, api, ann_id):
    root.put(ann_id, active=False)

    answer = api.post("login", email=ANN, password=PASSWORD)

    assert answer.error == (403, "USER_NOT_ACTIVE")
