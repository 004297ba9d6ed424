"""A one-time secret ends when its address or the password changes, however it was changed."""

from dataclasses import dataclass

import pytest
from django.contrib.auth.hashers import make_password

from tests.support.client import PASSWORD
from tests.support.flows import (
    ANN,
    NEW,
    OTHER_PHONE,
    account,
    email_verified,
    move,
    phone_verified,
    prove,
)
from tests.support.people import email_field, has

pytestmark = pytest.mark.django_db

MOVED = "ann@example.org"
THIRD = "elm harbour 88 candles"


@dataclass
class Secret:
    """How to obtain a secret, how to use it, and the error code once it has ended."""

    obtain: str
    use: str
    ended: str


RESET_LINK = Secret("reset_token", "reset", "INVALID_TOKEN")
RESET_CODE = Secret("reset_code", "reset_by_code", "INVALID_VERIFICATION_CODE")
VERIFY_LINK = Secret("email_token", "click", "INVALID_VERIFICATION_TOKEN")
VERIFY_CODE = Secret("phone_code", "verify_phone", "INVALID_VERIFICATION_CODE")
MAILED = [RESET_LINK, VERIFY_LINK]
TEXTED = [RESET_CODE, VERIFY_CODE]


def name(secret):
    return getattr(secret, "obtain", None) or getattr(secret, "__name__", "")


@pytest.fixture
def issued(flows, ann):
    """Request a secret; the returned function uses it."""

    def issue(secret):
        if secret is RESET_CODE:
            prove(phone="+4930123456")
        value = getattr(flows, secret.obtain)()
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
def test_one_time_secret_is_accepted(issued, secret):
    assert issued(secret)().status == 200


@pytest.mark.parametrize("secret", [RESET_LINK, *TEXTED], ids=name)
@pytest.mark.parametrize(
    "change", [changed_by_api, set_in_a_shell, updated_by_a_query, made_unusable], ids=name
)
def test_one_time_secret_ends_with_a_changed_password(api, ann, issued, secret, change):
    use = issued(secret)

    change(api, ann["access_token"])

    assert use().error == (400, secret.ended)


@pytest.mark.parametrize(
    "change", [changed_by_api, set_in_a_shell, updated_by_a_query, made_unusable], ids=name
)
def test_verification_link_stays_valid_after_a_changed_password(api, ann, issued, change):
    use = issued(VERIFY_LINK)

    change(api, ann["access_token"])

    assert use().status == 200


@pytest.mark.parametrize("secret", [VERIFY_CODE, RESET_CODE], ids=name)
def test_one_time_code_ends_with_a_password_reset_by_link(flows, issued, secret):
    use = issued(secret)

    flows.reset(flows.reset_token(), new_password=THIRD)

    assert use().error == (400, secret.ended)


@pytest.mark.parametrize("secret", [*MAILED, *TEXTED], ids=name)
def test_one_time_secret_stays_valid_after_a_hash_upgrade(api, issued, settings, secret):
    use = issued(secret)
    first, *others = settings.PASSWORD_HASHERS
    settings.PASSWORD_HASHERS = [*others, first]

    before = account().user.password
    api.log_in()

    assert account().user.password != before
    assert use().status == 200


@pytest.mark.parametrize("secret", [*MAILED, *TEXTED], ids=name)
def test_one_time_secret_stays_valid_after_a_login_and_a_changed_name(api, ann, issued, secret):
    use = issued(secret)
    api.log_in()
    api.request("PUT", "profile", {"name": "Ann Cee"}, token=ann["access_token"])

    assert use().status == 200


def saved_by_the_host():
    user = account().user
    setattr(user, email_field(), MOVED)
    user.save()


def address_updated_by_a_query():
    move(MOVED)


SAVED = pytest.param(
    saved_by_the_host,
    marks=pytest.mark.skipif(not has(email_field()), reason="the host's users have no address"),
)


@pytest.mark.parametrize("secret", MAILED, ids=name)
@pytest.mark.parametrize("change", [SAVED, address_updated_by_a_query])
def test_mailed_secret_ends_with_a_changed_address(issued, secret, change):
    use = issued(secret)

    change()

    assert use().error == (400, secret.ended)


@pytest.mark.parametrize("change", [SAVED, address_updated_by_a_query])
def test_mailed_secret_is_refused_for_the_new_address(flows, ann, change):
    reset, verify = flows.reset_token(), flows.email_token()

    change()

    assert flows.reset(reset, email=MOVED).error == (400, "INVALID_TOKEN")
    assert flows.click(verify, MOVED).error == (400, "INVALID_VERIFICATION_TOKEN")


@pytest.mark.parametrize("change", [SAVED, address_updated_by_a_query])
def test_changed_address_is_unverified_at_once(api, flows, ann, change):
    flows.click(flows.email_token())
    assert email_verified(ann["access_token"], api)

    change()

    assert not email_verified(ann["access_token"], api)


def test_changed_address_is_verified_by_its_own_link(api, flows, ann):
    flows.click(flows.email_token())
    move(MOVED)
    api.get("me", token=ann["access_token"])

    flows.click(flows.email_token(MOVED), MOVED)

    assert email_verified(ann["access_token"], api)


def test_old_address_gets_no_reset_link_after_a_change(api, post, ann):
    move(MOVED)

    api.post("forgot-password", email=ANN)

    assert post.outgoing(post.jobs[-1].kind) is None


@pytest.mark.parametrize("secret", TEXTED, ids=name)
@pytest.mark.parametrize("phone", [OTHER_PHONE, ""])
def test_texted_secret_ends_with_a_changed_number(api, ann, issued, secret, phone):
    use = issued(secret)

    api.request("PUT", "profile", {"phone": phone}, token=ann["access_token"])

    assert use().error == (400, secret.ended)


def test_changed_number_is_unverified_at_once(api, flows, ann):
    flows.verify_phone(flows.phone_code())

    api.request("PUT", "profile", {"phone": OTHER_PHONE}, token=ann["access_token"])

    assert not phone_verified(ann["access_token"], api)


@pytest.mark.parametrize("secret", [*MAILED, *TEXTED], ids=name)
def test_one_time_secret_ends_with_the_deleted_user(issued, secret):
    use = issued(secret)
    account().user.delete()

    assert use().error == (400, secret.ended)


def test_one_time_secret_stays_valid_after_a_rotated_secret_key(flows, settings, ann):
    reset, verify, code = flows.reset_token(), flows.email_token(), flows.phone_code()
    settings.SECRET_KEY_FALLBACKS = [settings.SECRET_KEY]
    settings.SECRET_KEY = "the next secret of the tests, long enough to be a key"

    assert flows.verify_phone(code).status == 200
    assert flows.click(verify).status == 200
    assert flows.reset(reset).status == 200


def test_one_time_secret_ends_with_a_removed_secret_key(flows, settings, ann):
    reset, code = flows.reset_token(), flows.phone_code()
    settings.SECRET_KEY = "the next secret of the tests, long enough to be a key"

    assert flows.verify_phone(code).error == (400, "INVALID_VERIFICATION_CODE")
    assert flows.reset(reset, new_password=NEW).error == (400, "INVALID_TOKEN")
