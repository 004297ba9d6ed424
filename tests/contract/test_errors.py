"""The error catalogue is public: a client compares these codes."""

from authservice.kernel import errors
from tests.support import declared

declared.import_errors()

CATALOGUE = [
    (400, "CANNOT_MODIFY_SELF"),
    (400, "LAST_SUPER_ADMIN"),
    (501, "EMAIL_NOT_CONFIGURED"),
    (409, "USER_IN_USE"),
    (404, "USER_NOT_FOUND"),
    (401, "INVALID_CREDENTIALS"),
    (403, "INVALID_CSRF"),
    (400, "INVALID_JSON"),
    (400, "INVALID_PASSWORD"),
    (401, "INVALID_REFRESH_TOKEN"),
    (400, "INVALID_REQUEST_BODY"),
    (401, "INVALID_TOKEN"),
    (403, "EMAIL_NOT_VERIFIED"),
    (403, "FORBIDDEN"),
    (500, "INTERNAL_ERROR"),
    (405, "METHOD_NOT_ALLOWED"),
    (404, "NOT_FOUND"),
    (400, "INVALID_TOKEN"),
    (400, "INVALID_VERIFICATION_CODE"),
    (400, "INVALID_VERIFICATION_TOKEN"),
    (400, "TOKEN_EXPIRED"),
    (400, "VERIFICATION_TOKEN_EXPIRED"),
    (501, "SMS_NOT_CONFIGURED"),
    (400, "PHONE_ALREADY_IN_USE"),
    (403, "PASSWORD_CHANGE_REQUIRED"),
    (403, "PHONE_NOT_VERIFIED"),
    (413, "REQUEST_TOO_LARGE"),
    (409, "CONFLICT"),
    (503, "SERVICE_UNAVAILABLE"),
    (404, "INVITATION_NOT_FOUND"),
    (400, "INVITATION_NOT_PENDING"),
    (400, "INVITATION_EXPIRED"),
    (409, "INVITATION_ALREADY_EXISTS"),
    (403, "INVITATION_MAX_PENDING"),
    (404, "SESSION_NOT_FOUND"),
    (403, "REAUTHENTICATION_REQUIRED"),
    (403, "SELF_DELETE_DISABLED"),
    (401, "STEP_UP_REQUIRED"),
    (403, "STEP_UP_UNAVAILABLE"),
    (403, "SIGNUP_DISABLED"),
    (401, "TOKEN_EXPIRED"),
    (429, "TOO_MANY_ATTEMPTS"),
    (400, "TWO_FACTOR_ALREADY_ENABLED"),
    (400, "TWO_FACTOR_INVALID"),
    (401, "TWO_FACTOR_INVALID"),
    (401, "TWO_FACTOR_REQUIRED"),
    (400, "TWO_FACTOR_NOT_ENABLED"),
    (429, "TOO_MANY_REQUESTS"),
    (401, "UNAUTHORIZED"),
    (415, "UNSUPPORTED_MEDIA_TYPE"),
    (400, "USERNAME_ALREADY_EXISTS"),
    (400, "USER_ALREADY_EXISTS"),
    (403, "USER_NOT_ACTIVE"),
    (400, "VALIDATION_ERROR"),
    # Passkeys, organizations and providers have files of their own.
    (400, "LAST_LOGIN_METHOD"),
    (409, "PASSKEY_EXISTS"),
    (400, "PASSKEY_INVALID"),
    (401, "PASSKEY_INVALID"),
    (403, "PASSKEY_LIMIT"),
    (404, "PASSKEY_NOT_FOUND"),
    (401, "PASSKEY_UNKNOWN"),
    (403, "ORG_CANNOT_REMOVE_OWNER"),
    (403, "ORG_INSUFFICIENT_ROLE"),
    (409, "ORG_IN_USE"),
    (403, "ORG_MAX_MEMBERS"),
    (403, "ORG_MAX_PER_USER"),
    (409, "ORG_MEMBER_EXISTS"),
    (404, "ORG_MEMBER_NOT_FOUND"),
    (404, "ORG_NOT_FOUND"),
    (403, "ORG_NOT_ACTIVE"),
    (403, "ORG_NOT_MEMBER"),
    (409, "ORG_SLUG_TAKEN"),
    (404, "OAUTH_PROVIDER_NOT_FOUND"),
    (400, "OAUTH_PROVIDER_DISABLED"),
    (400, "OAUTH_INVALID_STATE"),
    (400, "OAUTH_STATE_EXPIRED"),
    (400, "OAUTH_STATE_USED"),
    (400, "OAUTH_PROVIDER_ERROR"),
    (400, "OAUTH_TOKEN_EXCHANGE_FAILED"),
    (400, "OAUTH_USER_INFO_FAILED"),
    (400, "OAUTH_EMAIL_REQUIRED"),
    (403, "OAUTH_SIGNUP_DISABLED"),
    (403, "OAUTH_ACCOUNT_LINKING_DISABLED"),
    (409, "OAUTH_EMAIL_EXISTS"),
    (409, "OAUTH_ALREADY_LINKED"),
    (400, "OAUTH_NOT_LINKED"),
    (400, "OAUTH_LAST_LOGIN_METHOD"),
]


def test_error_catalogue_is_exactly_this():
    assert sorted((fault.status, fault.code) for fault in errors.catalogue()) == sorted(CATALOGUE)


def test_every_error_has_a_message():
    assert [fault.code for fault in errors.catalogue() if not fault.message] == []


def test_error_catalogue_is_sorted_by_code():
    codes = [fault.code for fault in errors.catalogue()]

    assert codes == sorted(codes)


def test_error_details_are_omitted_by_default(api, db):
    answer = api.post("signup", email="nobody", username="x", password="")

    assert set(answer.data) == {"code", "message"}


def test_error_details_list_every_field_if_enabled(api, db, configure):
    configure(API={"ERROR_DETAILS": True})

    answer = api.post("signup", email="nobody", username="x", password="")

    assert answer.data["details"] == {
        "email": ["Must be an e-mail address."],
        "username": [
            "Must be 3 to 30 of the characters A-Z, a-z, 0-9, '_', '.' and '-'.",
        ],
        "password": ["This field may not be blank."],
    }


def test_error_details_of_password_list_every_broken_rule(api, db, configure):
    configure(API={"ERROR_DETAILS": True}, CORE={"REQUIRE_DIGIT": True})

    details = api.post("signup", email="ann@example.com", password="abc").data["details"]

    assert "Must have at least 8 characters." in details["password"]
    assert "Must have a digit." in details["password"]


def test_error_message_contains_no_identifier():
    assert [fault.message for fault in errors.catalogue() if "_" in fault.message] == []
