"""A link or its code logs its recipient in, once and before it expires."""

import pytest

from authservice.core.models import Session
from tests.contract.shapes import is_refusal
from tests.magiclink.magic import ANN
from tests.support.flows import deactivate, move, wrong
from tests.support.people import the_user

pytestmark = pytest.mark.django_db

NO_LINK = (400, "INVALID_TOKEN")
NO_CODE = (400, "INVALID_VERIFICATION_CODE")


@pytest.fixture(params=["link", "code"])
def use(request, magic):
    """Logs in with the link or the code of an e-mail."""
    by_link = request.param == "link"
    return lambda pair: magic.follow(pair.token) if by_link else magic.type(pair.code)


@pytest.fixture(params=["link", "button", "code"])
def way(request, magic):
    """A function that logs in, and the error of its refusal."""
    uses = {
        "link": (lambda pair: magic.follow(pair.token), NO_LINK),
        "button": (lambda pair: magic.submit(pair.token), NO_LINK),
        "code": (lambda pair: magic.type(pair.code), NO_CODE),
    }
    return uses[request.param]


def test_login_has_the_response_of_a_login_by_password(magic, api, ann, way):
    use, _ = way

    answer = use(magic.mailed())

    assert answer.status == 200
    fields = {"status", "access_token", "refresh_token", "expires_in", "user", "message"}
    assert set(answer.data) == fields
    assert answer.data["user"]["email"] == ANN
    assert api.get("me", token=answer.data["access_token"]).data == answer.data["user"]
    assert api.post("refresh", refresh_token=answer.data["refresh_token"]).status == 200


def test_link_and_code_work_once(magic, ann, way):
    use, refusal = way
    pair = magic.mailed()
    use(pair)

    assert is_refusal(use(pair), *refusal)


def test_used_link_ends_its_code(magic, ann):
    pair = magic.mailed()
    magic.follow(pair.token)

    assert is_refusal(magic.type(pair.code), *NO_CODE)


def test_used_code_ends_its_link(magic, ann):
    pair = magic.mailed()
    magic.type(pair.code)

    assert is_refusal(magic.follow(pair.token), *NO_LINK)


def test_newer_email_ends_link_and_code_of_the_older_one(magic, ann):
    old, new = magic.mailed(), magic.mailed()

    assert is_refusal(magic.follow(old.token), *NO_LINK)
    if old.code != new.code:
        assert is_refusal(magic.type(old.code), *NO_CODE)
    assert magic.follow(new.token).status == 200


def test_link_and_code_are_valid_for_fifteen_minutes(magic, ann, clock, use):
    pair = magic.mailed()
    clock.forward(minutes=14, seconds=59)

    assert use(pair).status == 200


def test_expired_link_is_refused_as_expired(magic, ann, clock):
    pair = magic.mailed()
    clock.forward(minutes=15)

    assert is_refusal(magic.follow(pair.token), 400, "TOKEN_EXPIRED")


def test_expired_code_is_refused_as_invalid(magic, ann, clock):
    pair = magic.mailed()
    clock.forward(minutes=15)

    assert is_refusal(magic.type(pair.code), *NO_CODE)


def test_link_and_code_expire_after_the_ttl_of_the_settings(magic, ann, clock, magiclink, use):
    magiclink(TTL=60)
    pair = magic.mailed()
    clock.forward(seconds=60)

    assert use(pair).status == 400


@pytest.mark.parametrize("token", ["", "A" * 43, "\ufffd", "A" * 5000])
def test_invalid_link_is_refused(magic, ann, token):
    magic.mailed()

    assert is_refusal(magic.follow(token), *NO_LINK)


def test_link_of_another_purpose_is_refused(magic, api, post, ann):
    api.post("forgot-password", email=ANN)

    assert is_refusal(magic.follow(post.token("reset-link")), *NO_LINK)


def test_magic_link_does_not_reset_a_password(magic, api, ann):
    body = {"token": magic.mailed().token, "email": ANN, "new_password": "fig biscuit 17 lanterns"}

    assert is_refusal(api.request("POST", "reset-password", body), *NO_LINK)


def test_code_is_refused_after_five_wrong_attempts(magic, ann):
    pair = magic.mailed()
    for _ in range(5):
        assert is_refusal(magic.type(wrong(pair.code)), *NO_CODE)

    assert is_refusal(magic.type(pair.code), *NO_CODE)


def test_right_code_is_accepted_at_the_fifth_attempt(magic, ann):
    pair = magic.mailed()
    for _ in range(4):
        magic.type(wrong(pair.code))

    assert magic.type(pair.code).status == 200


def test_wrong_codes_do_not_end_the_link(magic, ann):
    pair = magic.mailed()
    for _ in range(9):
        magic.type(wrong(pair.code))

    assert magic.follow(pair.token).status == 200


def test_code_beyond_its_attempts_is_refused_as_for_an_unknown_address(magic, ann):
    pair = magic.mailed()
    for _ in range(6):
        known = magic.type(wrong(pair.code), X_Request_ID="trace-1")
    unknown = magic.type(wrong(pair.code), "nobody@example.com", X_Request_ID="trace-1")

    assert known.response.content == unknown.response.content
    assert dict(known.response.items()) == dict(unknown.response.items())


def test_attempts_at_codes_of_many_addresses_are_rate_limited(clock, magic, ann, configure):
    configure(THROTTLE={"RATES": {"guess": "3/h"}})
    pair = magic.mailed()
    for number in range(3):
        assert is_refusal(magic.type(pair.code, f"nobody{number}@example.com"), *NO_CODE)

    assert is_refusal(magic.type(pair.code), 429, "TOO_MANY_REQUESTS")
    assert magic.follow(pair.token).status == 200


def test_right_code_does_not_count_as_an_attempt(magic, ann, configure, clock):
    configure(THROTTLE={"RATES": {"guess": "2/h"}})
    for _ in range(3):
        assert magic.type(magic.mailed().code).status == 200


def test_code_is_valid_for_its_own_address_only(magic, api, ann):
    api.sign_up("eve@example.com")
    pair = magic.mailed()

    assert is_refusal(magic.type(pair.code, "eve@example.com"), *NO_CODE)


def test_code_is_accepted_with_the_address_in_another_case(magic, ann):
    assert magic.type(magic.mailed().code, "ANN@Example.COM").status == 200


@pytest.mark.parametrize("code", ["12345", "1234567", "12345a", "", "\uff11" * 5, " 12345"])
def test_code_that_is_not_six_digits_is_refused(magic, ann, code):
    assert is_refusal(magic.type(code), 400, "VALIDATION_ERROR")


def test_login_of_an_inactive_user_is_refused(magic, ann, way):
    use, refusal = way
    pair = magic.mailed()
    deactivate()

    assert is_refusal(use(pair), *refusal)
    assert Session.objects.filter(ended_at=None).count() == 1  # that of the sign-up


def test_changed_address_ends_link_and_code(magic, ann, way):
    use, refusal = way
    pair = magic.mailed()
    move("ann@elsewhere.example")

    assert is_refusal(use(pair), *refusal)


def test_changed_password_ends_link_and_code(magic, ann, way):
    use, refusal = way
    pair = magic.mailed()
    user = the_user()
    user.set_password("fig biscuit 17 lanterns")
    user.save()

    assert is_refusal(use(pair), *refusal)


def test_login_of_a_deleted_user_is_refused(magic, ann, way):
    use, refusal = way
    pair = magic.mailed()
    the_user().delete()

    assert is_refusal(use(pair), *refusal)


def test_login_without_a_required_verified_number_is_refused(magic, ann, configure, way):
    use, _ = way
    pair = magic.mailed()
    configure(CORE={"REQUIRE_PHONE_VERIFICATION": True})

    assert is_refusal(use(pair), 403, "PHONE_NOT_VERIFIED")

    configure(CORE={})
    assert use(pair).status == 200, "the refusal used it up"


def test_login_by_password_still_works_afterwards(magic, api, ann, use):
    use(magic.mailed())

    api.log_in()


def test_session_records_the_method_of_the_login(magic, ann, use):
    use(magic.mailed())

    assert Session.objects.latest("created_at").amr == "email"
