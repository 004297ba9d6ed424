"""PUT and PATCH /profile: what users can change in their own profile."""

import pytest

from tests.contract.shapes import USER, fits, is_refusal
from tests.support.flows import OTHER_PHONE, PHONE, prove

pytestmark = pytest.mark.django_db

AVATAR = "https://cdn.example.com/a/ann.png?size=2#top"
PHONE_RULE = "phone: Must be a possible number in E.164 form, as +4930123456."
URL_RULE = "avatar: Must be a URL that starts with http:// or https://."
HOST_RULE = (
    "avatar: The host of the URL must be a domain name such as example.com, an IP address or"
    " localhost."
)


@pytest.fixture(params=["PUT", "PATCH"])
def put(api, ann, request):
    """Changes the profile of the first user; both methods do the same."""

    def put(**body):
        return api.request(request.param, "profile", body, token=ann["access_token"])

    return put


@pytest.fixture
def me(api, ann):
    return lambda: api.get("me", token=ann["access_token"]).data


def test_success_returns_200_with_the_user_only(put):
    answer = put(name="Ann Cee")

    assert answer.status == 200
    assert list(answer.body) == ["data"]
    assert fits(answer.data, USER)


def test_response_with_personal_data_is_not_cached(put):
    assert put(name="Ann Cee").headers["Cache-Control"] == "no-store, private"


def test_response_is_the_stored_user(put, me):
    answer = put(name="Ann Cee", phone=OTHER_PHONE, avatar=AVATAR)

    assert answer.data == me()


@pytest.mark.parametrize(
    ("field", "shown", "value"),
    [
        ("name", "name", "Ann B. Cee"),
        ("name", "name", ""),
        ("phone", "phone_number", OTHER_PHONE),
        ("phone", "phone_number", ""),
        ("avatar", "avatar", AVATAR),
        ("avatar", "avatar", ""),
    ],
)
def test_each_field_is_stored_or_cleared_separately(put, me, field, shown, value):
    put(name="Ann", phone=PHONE, avatar="https://example.com/old.png")
    before = me()

    put(**{field: value})

    assert {**before, shown: value, "updated_at": ""} == {**me(), "updated_at": ""}


@pytest.mark.parametrize("body", [{}, {"name": None, "phone": None, "avatar": None}])
def test_no_field_is_required_and_null_means_omitted(put, me, body):
    put(name="Ann", avatar=AVATAR)
    before = me()

    assert put(**body).data == before
    assert me() == before


def test_empty_body_is_accepted(api, ann):
    assert api.request("PUT", "profile", token=ann["access_token"]).status == 200


@pytest.mark.parametrize(
    "body",
    [
        {"email": "eve@example.com"},
        {"phone_number": OTHER_PHONE},
        {"username": "eve"},
        {"first_name": "Eve"},
        {"active": False},
        {"email_verified": True},
        {"phone_number_verified": True},
        {"is_super_admin": True},
        {"token_version": 7},
    ],
)
def test_other_fields_are_ignored(put, me, body):
    before = me()

    assert put(**body).status == 200
    assert me() == before


def test_name_is_not_written_to_first_and_last_name(put):
    user = put(name="Ann Cee").data

    assert (user["first_name"], user["last_name"]) == ("", "")


def test_change_sets_updated_at(put, me):
    put(name="Ann Cee")
    first = me()["updated_at"]
    put(name="Ann B. Cee")

    assert me()["created_at"] < first < me()["updated_at"]


def test_unchanged_values_do_not_set_updated_at(put, me):
    put(name="", phone=PHONE, avatar="")

    assert me()["updated_at"] is None


def test_changed_number_is_unverified(put, me):
    prove(phone=PHONE)

    put(phone=OTHER_PHONE)

    assert me()["phone_number_verified"] is False


def test_cleared_number_is_unverified(put, me):
    prove(phone=PHONE)

    put(phone="")

    assert me()["phone_number_verified"] is False


def test_required_number_is_replaced_but_not_cleared(put, me, configure):
    """Its user could not log in any more."""
    configure(CORE={"REQUIRE_PHONE_VERIFICATION": True})
    number = me()["phone_number"]

    answer = put(phone="")

    assert is_refusal(answer, 400, "VALIDATION_ERROR")
    assert answer.data["message"] == "phone: This field is required."
    assert me()["phone_number"] == number != ""
    assert put(phone=OTHER_PHONE).status == 200


def test_unchanged_number_stays_verified(put, me):
    prove(phone=PHONE)

    put(phone=PHONE, name="Ann Cee")

    assert me()["phone_number_verified"] is True


def test_verified_number_of_another_user_is_phone_already_in_use(api, put):
    api.sign_up("ben@example.com", phone_number=OTHER_PHONE)
    prove("ben@example.com", phone=OTHER_PHONE)

    assert is_refusal(put(phone=OTHER_PHONE), 400, "PHONE_ALREADY_IN_USE")


def test_refused_number_changes_nothing(api, put, me):
    api.sign_up("ben@example.com", phone_number=OTHER_PHONE)
    prove("ben@example.com", phone=OTHER_PHONE)
    before = me()

    put(phone=OTHER_PHONE, name="Ann Cee", avatar=AVATAR)

    assert me() == before


def test_cleared_number_can_be_used_by_another_user(api, put):
    put(phone="")

    assert api.sign_up("ben@example.com", phone_number=PHONE)["user"]["phone_number"] == PHONE


def test_several_users_can_have_no_number(api, put):
    api.sign_up("ben@example.com")

    assert put(phone="").status == 200


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({"phone": "030123456"}, PHONE_RULE),
        ({"phone": "+0301234567"}, PHONE_RULE),
        ({"phone": "4930123456"}, PHONE_RULE),
        ({"phone": "+49 30 123456"}, PHONE_RULE),
        ({"phone": " +4930123456"}, PHONE_RULE),
        ({"phone": "+4930123456 "}, PHONE_RULE),
        ({"phone": "+493012345\u0664"}, PHONE_RULE),
        ({"phone": "\uff0b4930123456"}, PHONE_RULE),
        ({"phone": "+123456"}, PHONE_RULE),
        ({"phone": "+4930123456789012"}, PHONE_RULE),
        ({"phone": "00"}, PHONE_RULE),
        ({"avatar": "ann.png"}, URL_RULE),
        ({"avatar": "//example.com/ann.png"}, URL_RULE),
        ({"avatar": "ftp://example.com/ann.png"}, URL_RULE),
        ({"avatar": "javascript:alert(1)"}, URL_RULE),
        ({"avatar": "data:image/png;base64,AAAA"}, URL_RULE),
        ({"avatar": "https://"}, URL_RULE),
        ({"avatar": "https://exa mple.com/"}, HOST_RULE),
        ({"avatar": "https://example.com/" + "a" * 2029}, URL_RULE),
        ({"name": "n" * 256}, "name: Ensure this field has no more than 255 characters."),
    ],
    ids=lambda value: ascii(value)[:40],
)
def test_invalid_field_is_a_validation_error_that_names_field_and_rule(put, body, message):
    answer = put(**body)

    assert is_refusal(answer, 400, "VALIDATION_ERROR")
    assert answer.data["message"] == message


def test_invalid_field_changes_nothing(put, me):
    before = me()

    put(name="Ann Cee", avatar="ann.png")

    assert me() == before


@pytest.mark.parametrize(
    "url",
    [
        AVATAR,
        "http://localhost:8000/ann.png",
        "https://192.0.2.1/ann.png",
        "https://[2001:db8::1]/ann.png",
        "https://m\u00fcnchen.example/ann.png",
        "https://example.com/" + "a" * 2028,
    ],
    ids=lambda url: ascii(url)[:40],
)
def test_avatar_can_be_any_web_address(put, url):
    assert put(avatar=url).data["avatar"] == url


def test_profile_change_without_a_token_is_unauthorized(api):
    answer = api.request("PUT", "profile", {"name": "Eve"})

    assert is_refusal(answer, 401, "UNAUTHORIZED")
