"""A link or its code signs in, once, for as long as it lives, whom it was mailed to."""

import pytest

from authservice.core.models import Session
from tests.contract.shapes import is_refusal
from tests.magiclink.magic import ANN
from tests.people import the_user
from tests.recovery.flows import deactivate, move, wrong

pytestmark = pytest.mark.django_db

NO_LINK = (400, "INVALID_TOKEN")
NO_CODE = (400, "INVALID_VERIFICATION_CODE")


@pytest.fixture(params=["link", "code"])
def use(request, magic):
    """Sign in with one of the two that a mail brought."""
    by_link = request.param == "link"
    return lambda pair: magic.follow(pair.token) if by_link else magic.type(pair.code)


@pytest.fixture(params=["link", "button", "code"])
def road(request, magic):
    """A use, and how it is refused."""
    uses = {
        "link": (lambda pair: magic.follow(pair.token), NO_LINK),
        "button": (lambda pair: magic.push(pair.token), NO_LINK),
        "code": (lambda pair: magic.type(pair.code), NO_CODE),
    }
    return uses[request.param]


def test_it_signs_in_with_the_answer_of_a_login(magic, api, ann, road):
    use, _ = road

    answer = use(magic.mailed())

    assert answer.status == 200
    assert set(answer.data) == {"access_token", "refresh_token", "expires_in", "user", "message"}
    assert answer.data["user"]["email"] == ANN
    assert api.get("me", token=answer.data["access_token"]).data == answer.data["user"]
    assert api.post("refresh", refresh_token=answer.data["refresh_token"]).status == 200


def test_it_works_once(magic, ann, road):
    use, refusal = road
    pair = magic.mailed()
    use(pair)

    assert is_refusal(use(pair), *refusal)


def test_a_used_link_ends_its_code(magic, ann):
    pair = magic.mailed()
    magic.follow(pair.token)

    assert is_refusal(magic.type(pair.code), *NO_CODE)


def test_a_used_code_ends_its_link(magic, ann):
    pair = magic.mailed()
    magic.type(pair.code)

    assert is_refusal(magic.follow(pair.token), *NO_LINK)


def test_a_newer_mail_ends_both_of_the_one_before(magic, ann):
    old, new = magic.mailed(), magic.mailed()

    assert is_refusal(magic.follow(old.token), *NO_LINK)
    if old.code != new.code:
        assert is_refusal(magic.type(old.code), *NO_CODE)
    assert magic.follow(new.token).status == 200


def test_it_lives_for_a_quarter_of_an_hour(magic, ann, clock, use):
    pair = magic.mailed()
    clock.forward(minutes=14, seconds=59)

    assert use(pair).status == 200


def test_an_expired_link_says_so(magic, ann, clock):
    pair = magic.mailed()
    clock.forward(minutes=15)

    assert is_refusal(magic.follow(pair.token), 400, "TOKEN_EXPIRED")


def test_an_expired_code_is_merely_wrong(magic, ann, clock):
    pair = magic.mailed()
    clock.forward(minutes=15)

    assert is_refusal(magic.type(pair.code), *NO_CODE)


def test_its_life_can_be_set(magic, ann, clock, magiclink, use):
    magiclink(TTL=60)
    pair = magic.mailed()
    clock.forward(seconds=60)

    assert use(pair).status == 400


@pytest.mark.parametrize("token", ["", "A" * 43, "\ufffd", "A" * 5000])
def test_what_is_no_link_is_refused(magic, ann, token):
    magic.mailed()

    assert is_refusal(magic.follow(token), *NO_LINK)


def test_a_link_of_another_purpose_is_refused(magic, api, post, ann):
    api.post("forgot-password", email=ANN)

    assert is_refusal(magic.follow(post.token("reset-link")), *NO_LINK)


def test_a_magic_link_resets_no_password(magic, api, ann):
    body = {"token": magic.mailed().token, "email": ANN, "new_password": "fig biscuit 17 lanterns"}

    assert is_refusal(api.request("POST", "reset-password", body), *NO_LINK)


def test_five_tries_at_a_code_are_all_there_are(magic, ann):
    pair = magic.mailed()
    for _ in range(5):
        assert is_refusal(magic.type(wrong(pair.code)), *NO_CODE)

    assert is_refusal(magic.type(pair.code), *NO_CODE)


def test_the_fifth_try_may_be_the_right_one(magic, ann):
    pair = magic.mailed()
    for _ in range(4):
        magic.type(wrong(pair.code))

    assert magic.type(pair.code).status == 200


def test_a_code_that_was_guessed_at_leaves_the_link_alone(magic, ann):
    pair = magic.mailed()
    for _ in range(9):
        magic.type(wrong(pair.code))

    assert magic.follow(pair.token).status == 200


def test_past_its_tries_a_code_is_refused_as_for_nobody(magic, ann):
    pair = magic.mailed()
    for _ in range(6):
        known = magic.type(wrong(pair.code), X_Request_ID="trace-1")
    unknown = magic.type(wrong(pair.code), "nobody@example.com", X_Request_ID="trace-1")

    assert known.response.content == unknown.response.content
    assert dict(known.response.items()) == dict(unknown.response.items())


def test_who_guesses_at_many_codes_is_held_up(magic, ann, configure):
    configure(THROTTLE={"RATES": {"guess": "3/h"}})
    pair = magic.mailed()
    for number in range(3):
        assert is_refusal(magic.type(pair.code, f"nobody{number}@example.com"), *NO_CODE)

    assert is_refusal(magic.type(pair.code), 429, "TOO_MANY_REQUESTS")
    assert magic.follow(pair.token).status == 200


def test_a_right_code_was_no_guess(magic, ann, configure, clock):
    configure(THROTTLE={"RATES": {"guess": "2/h"}})
    for _ in range(3):
        assert magic.type(magic.mailed().code).status == 200


def test_a_code_is_for_its_own_address_alone(magic, api, ann):
    api.sign_up("eve@example.com")
    pair = magic.mailed()

    assert is_refusal(magic.type(pair.code, "eve@example.com"), *NO_CODE)


def test_any_spelling_of_the_address_goes_with_the_code(magic, ann):
    assert magic.type(magic.mailed().code, "ANN@Example.COM").status == 200


@pytest.mark.parametrize("code", ["12345", "1234567", "12345a", "", "\uff11" * 6, " 12345"])
def test_what_is_no_six_digits_is_refused(magic, ann, code):
    assert is_refusal(magic.type(code), 400, "VALIDATION_ERROR")


def test_a_suspended_person_stays_out(magic, ann, road):
    use, refusal = road
    pair = magic.mailed()
    deactivate()

    assert is_refusal(use(pair), *refusal)
    assert Session.objects.filter(ended_at=None).count() == 1  # that of the sign-up


def test_an_address_that_was_changed_ends_both(magic, ann, road):
    use, refusal = road
    pair = magic.mailed()
    move("ann@elsewhere.example")

    assert is_refusal(use(pair), *refusal)


def test_a_changed_password_ends_both(magic, ann, road):
    use, refusal = road
    pair = magic.mailed()
    user = the_user()
    user.set_password("fig biscuit 17 lanterns")
    user.save()

    assert is_refusal(use(pair), *refusal)


def test_a_deleted_person_stays_out(magic, ann, road):
    use, refusal = road
    pair = magic.mailed()
    the_user().delete()

    assert is_refusal(use(pair), *refusal)


def test_a_number_that_must_be_verified_keeps_everybody_out(magic, ann, configure, road):
    use, _ = road
    pair = magic.mailed()
    configure(CORE={"REQUIRE_PHONE_VERIFICATION": True})

    assert is_refusal(use(pair), 403, "PHONE_NOT_VERIFIED")

    configure(CORE={})
    assert use(pair).status == 200, "the refusal spent it"


def test_the_password_still_works_afterwards(magic, api, ann, use):
    use(magic.mailed())

    api.log_in()


def test_the_sign_in_says_how_it_came_about(magic, ann, use):
    use(magic.mailed())

    assert Session.objects.latest("created_at").amr == "email"
