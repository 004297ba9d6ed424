"""Which e-mail addresses a new account may have, and that accounts with other addresses still
work."""

import pytest

from authservice.core.models import Account
from authservice.core.users import identifiers
from authservice.testing import mailbox
from tests.support.client import PASSWORD
from tests.support.flows import CommittingApi
from tests.support.people import make_user, the_user

pytestmark = pytest.mark.django_db

REFUSED = [
    '"ann"@example.com',
    '"a\\nn"@example.com',
    '"ann b"@example.com',
    "ann@[127.0.0.1]",
    "ann@[IPv6:::1]",
    "ann@127.0.0.10",
    "ann@localhost",
    "ann@LOCALHOST",
    "ann@mail.localhost",
    "ann@mail.localhost\u3002",
    "ann@\uff4cocalhost.example.localhost",
]
TAKEN = ["ann@example.com", "o'neil+tag@example.com", "ann@b\u00fccher.example", "a@x.co"]


def variants(local="victim", domain="example.com"):
    """Yield forty ways to write one mailbox, with backslashes that its server ignores."""
    for number in range(40):
        quoted = "".join(
            f"\\{letter}" if number >> place & 1 else letter for place, letter in enumerate(local)
        )
        yield f'"{quoted}"@{domain}'


@pytest.fixture
def api(configure):
    configure(THROTTLE={"ENABLED": False})
    return CommittingApi()


def test_forty_variants_of_a_mailbox_get_no_account_and_no_mail(api):
    with mailbox() as box:
        api.sign_up("victim@example.com")
        for email in variants():
            assert api.post("signup", email=email, password=PASSWORD).status == 400
            for path in ("forgot-password", "send-verification-email"):
                assert api.post(path, email=email).status == 200

    assert Account.objects.count() == 1
    assert [message.to for message in box.messages] == ["victim@example.com"]


@pytest.mark.parametrize("email", REFUSED)
def test_signup_with_an_address_that_names_no_own_mailbox_is_refused(api, email):
    answer = api.post("signup", email=email, password=PASSWORD)

    assert answer.error == (400, "VALIDATION_ERROR")
    assert answer.data["message"].startswith("email: Must be an e-mail address")


@pytest.mark.parametrize("email", TAKEN)
def test_signup_with_an_ordinary_address_succeeds(api, email):
    assert api.post("signup", email=email, password=PASSWORD).status in (200, 201)


def test_availability_of_a_refused_address_is_refused(api):
    for email in REFUSED:
        assert api.post("is-available", email=email).error == (400, "VALIDATION_ERROR")


def test_localhost_is_a_valid_domain_under_debug(api, settings):
    settings.DEBUG = True

    assert identifiers.is_new_email("ann@localhost")
    assert not identifiers.is_new_email('"ann"@localhost')


@pytest.fixture
def odd():
    """A user who had a refused address before it was refused."""
    return make_user('"ann"@example.com', username="ann")


def test_existing_user_with_a_refused_address_logs_in(api, odd):
    assert api.post("login", email='"ann"@example.com', password=PASSWORD).status in (200, 201)


def test_existing_user_with_a_refused_address_resets_the_password(api, odd):
    with mailbox() as box:
        api.post("forgot-password", email='"ann"@example.com')

    body = {
        "token": box.last_token,
        "email": '"ann"@example.com',
        "new_password": "plum 43 windows",
    }
    assert api.request("POST", "reset-password", body).status == 200


@pytest.fixture
def admin(api):
    token = api.sign_up("root@example.com")["access_token"]
    user = the_user("root@example.com")
    Account.objects.filter(user=user).update(is_super_admin=True)
    return token


def changed(api, admin, user, **body):
    return api.request("PUT", f"admin/users/{user.pk}", body, token=admin)


@pytest.mark.parametrize("email", ['"ann"@example.org', "ann@localhost", "ann@[127.0.0.1]"])
def test_staff_cannot_set_a_refused_address(api, admin, odd, email):
    assert changed(api, admin, odd, email=email).error == (400, "VALIDATION_ERROR")


def test_staff_can_change_other_fields_of_a_user_with_a_refused_address(api, admin, odd):
    assert changed(api, admin, odd, email='"ann"@example.com', name="Ann").status == 200


def test_staff_cannot_create_a_user_with_a_refused_address(api, admin):
    with mailbox() as box:
        answer = api.post("admin/users", token=admin, email='"bob"@example.com')

    assert answer.error == (400, "VALIDATION_ERROR")
    assert box.messages == []
