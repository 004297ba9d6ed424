"""The main rules of staff at the level of the rules, without pages: quick, in every run.

What the pages of Django admin and the support page add is tested in hosts that have them.
"""

import pytest
from django.contrib.auth.models import Permission

from authservice.core import errors
from authservice.core.management.commands import authservice_support_group as support_group
from authservice.core.models import AttemptCounter
from authservice.core.staff import admin_login, support_actions
from authservice.kernel.client import Client
from authservice.kernel.errors import TooManyAttempts
from authservice.kernel.secret import Secret
from tests.support.client import PASSWORD
from tests.support.people import the_user
from tests.twofactor.people import Person

pytestmark = pytest.mark.django_db

# Written out: a table that the code returned would agree with any mistake in it.
BUTTONS = {
    "unlock": "authservice_core.support_account",
    "end-sessions": "authservice_core.support_account",
    "send-reset": "authservice_core.support_account",
    "resend-verification": "authservice_core.support_account",
    "verify-email": "authservice_core.verify_account",
    "suspend": "authservice_core.suspend_account",
    "reactivate": "authservice_core.suspend_account",
    "disable-second-factor": "authservice_twofactor.disable_authenticator",
    "remove-passkeys": "authservice_passkeys.remove_passkey",
}


def test_buttons_of_the_support_page_need_these_permissions():
    assert {button.name: button.permission for button in support_actions.buttons()} == BUTTONS


def test_support_group_has_the_permissions_of_all_buttons():
    assert set(BUTTONS.values()) <= set(support_group.permissions())
    names = {f"{each.content_type.app_label}.{each.codename}" for each in Permission.objects.all()}
    assert set(BUTTONS.values()) <= names


@pytest.fixture
def person(api, clock):
    """A user with a second factor, whose next code is unused."""
    signed_up = api.sign_up(username="ann")
    person = Person(api, token=signed_up["access_token"], user_id=signed_up["user"]["id"]).enrol()
    clock.forward(seconds=30)
    return person


def log_in(password=PASSWORD, code="", allow=lambda user: None):
    name = the_user("ann@example.com").get_username()
    return admin_login.log_in(name, Secret(password), Secret(code), Client(), allow=allow)


def test_right_password_without_a_code_uses_up_no_attempt(person):
    for _ in range(11):
        with pytest.raises(admin_login.CodeRequired):
            log_in()

    assert log_in(code=person.code()).pk == the_user("ann@example.com").pk
    assert not AttemptCounter.objects.filter(count__gt=0).exists()


def test_wrong_passwords_are_limited(person):
    for _ in range(10):
        with pytest.raises(errors.InvalidCredentials):
            log_in("not hers at all")

    with pytest.raises(TooManyAttempts):
        log_in(code=person.code())


def test_wrong_code_is_refused_and_counted(person):
    with pytest.raises(errors.TwoFactorRefused):
        log_in(code=person.wrong_code())

    assert AttemptCounter.objects.filter(count=1).exists()


def test_user_who_may_not_log_in_is_refused_after_the_right_password(person):
    def refuse(user):
        raise PermissionError

    with pytest.raises(PermissionError):
        log_in(code=person.code(), allow=refuse)
