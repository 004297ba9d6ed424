"""A secret dies with the address and the password it was made under, whoever changed them."""

from dataclasses import dataclass

import pytest
from django.contrib.auth.hashers import make_password

from tests.client import PASSWORD
from tests.people import email_field, has
from tests.recovery.flows import (
    ANN,
    NEW,
    OTHER_PHONE,
    account,
    email_verified,
    move,
    phone_verified,
    prove,
)

pytestmark = pytest.mark.django_db

MOVED = "ann@example.org"
THIRD = "elm harbour 88 candles"


@dataclass
class Secret:
    """How to come by one, how to use it, and what a dead one answers."""

    ask: str
    use: str
    dead: str


RESET_LINK = Secret("reset_token", "reset", "INVALID_TOKEN")
RESET_CODE = Secret("reset_code", "reset_by_code", "INVALID_VERIFICATION_CODE")
VERIFY_LINK = Secret("email_token", "click", "INVALID_VERIFICATION_TOKEN")
VERIFY_CODE = Secret("phone_code", "verify_phone", "INVALID_VERIFICATION_CODE")
MAILED = [RESET_LINK, VERIFY_LINK]
TEXTED = [RESET_CODE, VERIFY_CODE]


def name(secret):
    return getattr(secret, "ask", None) or getattr(secret, "__name__", "")


@pytest.fixture
def issued(flows, ann):
    """Ask for a secret; the result uses it."""

    def issue(secret):
        if secret is RESET_CODE:
            prove(phone="+4930123456")
        value = getattr(flows, secret.ask)()
        return lambda: getattr(flows, secret.use)(value)

    return issue


def changed_by_api(api, token):
    body = {"old_password": PASSWORD, "new_password": THIRD}
    assert api.request("PUT", "change-password", body, token=token).status == 200


def set_in_a_shell(api, token):
    user = account().user
    user.set_password(THIRD)
    user.save()


def updated_by_a_query(api, token):
    user = account().user
    type(user).objects.filter(pk=user.pk).update(password=make_password(THIRD))


def made_unusable(api, token):
    user = account().user
    type(user).objects.filter(pk=user.pk).update(password=make_password(None))


@pytest.mark.parametrize("secret", [*MAILED, *TEXTED], ids=name)
def test_a_live_secret_works(issued, secret):
    assert issued(secret)().status == 200


@pytest.mark.parametrize("secret", [RESET_LINK, *TEXTED], ids=name)
@pytest.mark.parametrize(
    "change", [changed_by_api, set_in_a_shell, updated_by_a_query, made_unusable], ids=name
)
def test_a_changed_password_ends_it(api, ann, issued, secret, change):
    use = issued(secret)

    change(api, ann["access_token"])

    assert use().error == (400, secret.dead)


@pytest.mark.parametrize(
    "change", [changed_by_api, set_in_a_shell, updated_by_a_query, made_unusable], ids=name
)
def test_a_changed_password_does_not_end_a_verification_link(api, ann, issued, change):
    use = issued(VERIFY_LINK)

    change(api, ann["access_token"])

    assert use().status == 200


@pytest.mark.parametrize("secret", [VERIFY_CODE, RESET_CODE], ids=name)
def test_a_password_reset_by_link_ends_it(flows, issued, secret):
    use = issued(secret)

    flows.reset(flows.reset_token(), new_password=THIRD)

    assert use().error == (400, secret.dead)


@pytest.mark.parametrize("secret", [*MAILED, *TEXTED], ids=name)
def test_a_better_hash_of_the_same_password_does_not_end_it(api, issued, settings, secret):
    use = issued(secret)
    first, *others = settings.PASSWORD_HASHERS
    settings.PASSWORD_HASHERS = [*others, first]

    before = account().user.password
    api.log_in()

    assert account().user.password != before
    assert use().status == 200


@pytest.mark.parametrize("secret", [*MAILED, *TEXTED], ids=name)
def test_a_login_and_a_changed_name_do_not_end_it(api, ann, issued, secret):
    use = issued(secret)
    api.log_in()
    api.request("PUT", "profile", {"name": "Ann Cee"}, token=ann["access_token"])

    assert use().status == 200


def saved_by_the_host():
    user = account().user
    setattr(user, email_field(), MOVED)
    user.save()


def updated_behind_our_back():
    move(MOVED)


SAVED = pytest.param(
    saved_by_the_host,
    marks=pytest.mark.skipif(not has(email_field()), reason="the host's users have no address"),
)


@pytest.mark.parametrize("secret", MAILED, ids=name)
@pytest.mark.parametrize("change", [SAVED, updated_behind_our_back])
def test_a_changed_address_ends_what_was_mailed(issued, secret, change):
    use = issued(secret)

    change()

    assert use().error == (400, secret.dead)


@pytest.mark.parametrize("change", [SAVED, updated_behind_our_back])
def test_what_was_mailed_is_of_no_use_for_the_new_address(flows, ann, change):
    reset, verify = flows.reset_token(), flows.email_token()

    change()

    assert flows.reset(reset, email=MOVED).error == (400, "INVALID_TOKEN")
    assert flows.click(verify, MOVED).error == (400, "INVALID_VERIFICATION_TOKEN")


@pytest.mark.parametrize("change", [SAVED, updated_behind_our_back])
def test_a_changed_address_is_unverified_at_once(api, flows, ann, change):
    flows.click(flows.email_token())
    assert email_verified(ann["access_token"], api)

    change()

    assert not email_verified(ann["access_token"], api)


def test_a_changed_address_is_verified_by_a_link_of_its_own(api, flows, ann):
    flows.click(flows.email_token())
    move(MOVED)
    api.get("me", token=ann["access_token"])

    flows.click(flows.email_token(MOVED), MOVED)

    assert email_verified(ann["access_token"], api)


def test_the_old_address_is_not_written_to(api, post, ann):
    move(MOVED)

    api.post("forgot-password", email=ANN)

    assert post.letter(post.jobs[-1].kind) is None


@pytest.mark.parametrize("secret", TEXTED, ids=name)
@pytest.mark.parametrize("phone", [OTHER_PHONE, ""])
def test_a_changed_number_ends_what_was_texted(api, ann, issued, secret, phone):
    use = issued(secret)

    api.request("PUT", "profile", {"phone": phone}, token=ann["access_token"])

    assert use().error == (400, secret.dead)


def test_a_changed_number_is_unverified_at_once(api, flows, ann):
    flows.verify_phone(flows.phone_code())

    api.request("PUT", "profile", {"phone": OTHER_PHONE}, token=ann["access_token"])

    assert not phone_verified(ann["access_token"], api)


@pytest.mark.parametrize("secret", [*MAILED, *TEXTED], ids=name)
def test_a_deleted_user_takes_their_secrets_along(issued, secret):
    use = issued(secret)
    account().user.delete()

    assert use().error == (400, secret.dead)


def test_a_secret_outlives_a_rotated_secret_key(flows, settings, ann):
    reset, verify, code = flows.reset_token(), flows.email_token(), flows.phone_code()
    settings.SECRET_KEY_FALLBACKS = [settings.SECRET_KEY]
    settings.SECRET_KEY = "the next secret of the tests, long enough to be a key"

    assert flows.verify_phone(code).status == 200
    assert flows.click(verify).status == 200
    assert flows.reset(reset).status == 200


def test_a_secret_dies_with_its_key(flows, settings, ann):
    reset, code = flows.reset_token(), flows.phone_code()
    settings.SECRET_KEY = "the next secret of the tests, long enough to be a key"

    assert flows.verify_phone(code).error == (400, "INVALID_VERIFICATION_CODE")
    assert flows.reset(reset, new_password=NEW).error == (400, "INVALID_TOKEN")
