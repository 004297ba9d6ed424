"""django-otp's middleware, forms and admin site accept the codes of our authenticators."""

import re

import pytest
from django.contrib.auth import get_user_model
from django_otp import DEVICE_ID_SESSION_KEY, devices_for_user, user_has_device, verify_token

from authservice.core.models import AttemptCounter
from authservice.twofactor.models import Authenticator
from tests.support.client import PASSWORD
from tests.support.people import the_user

pytestmark = pytest.mark.django_db
SITE, LOGIN = "/otp/", "/otp/login/?next=/otp/"


@pytest.fixture
def admin_user(enrolled):
    """A superuser with a second factor."""
    get_user_model().objects.update(is_staff=True, is_superuser=True)
    return enrolled


def device():
    return Authenticator.objects.get()


def log_in(browser, token, chosen=None):
    form = {
        "username": the_user().get_username(),
        "password": PASSWORD,
        "otp_device": device().persistent_id if chosen is None else chosen,
        "otp_token": token,
    }
    return browser.post(LOGIN, form)


def has_access(browser):
    return browser.get(SITE).status_code == 200


def test_confirmed_authenticator_is_a_device_of_its_user(admin_user):
    assert list(devices_for_user(the_user())) == [device()]


def test_unconfirmed_authenticator_is_not_a_device(ann):
    ann.set_up()

    assert not user_has_device(the_user())


def test_code_logs_staff_in(admin_user, browser):
    assert log_in(browser, admin_user.code()).status_code == 302
    assert has_access(browser)
    assert browser.session[DEVICE_ID_SESSION_KEY] == device().persistent_id


def test_backup_code_logs_staff_in_once(admin_user, browser):
    assert log_in(browser, admin_user.backup_codes[0]).status_code == 302
    browser.logout()

    assert log_in(browser, admin_user.backup_codes[0]).status_code == 200
    assert not has_access(browser)


def test_password_alone_does_not_log_staff_in(admin_user, browser):
    log_in(browser, "")
    assert not has_access(browser)

    browser.force_login(the_user())
    assert not has_access(browser)


def test_login_form_offers_the_device(admin_user, browser):
    page = log_in(browser, "", "").content.decode()

    assert re.search(rf'value="{device().persistent_id}"[^>]*>Authenticator app', page)


@pytest.mark.parametrize("template", ["{}x", "+{}", "0{}"])
def test_code_with_other_characters_is_refused(admin_user, template):
    assert device().verify_token(template.format(admin_user.code())) is False


def test_code_used_in_django_admin_is_refused_by_the_api(admin_user, browser):
    code = admin_user.code()
    log_in(browser, code)
    browser.logout()

    log_in(browser, code)
    assert not has_access(browser)
    assert admin_user.verify_login(code).error == (401, "TWO_FACTOR_INVALID")


def test_code_used_by_the_api_is_refused_in_django_admin(admin_user, browser):
    code = admin_user.code()
    assert admin_user.verify_login(code).status == 200

    log_in(browser, code)
    assert not has_access(browser)


def test_attempts_in_django_admin_and_the_api_are_counted_together(admin_user, browser):
    for _ in range(5):
        log_in(browser, admin_user.wrong_code())
        admin_user.verify_login(admin_user.wrong_code())

    log_in(browser, admin_user.code())
    assert not has_access(browser)
    assert admin_user.verify_login(admin_user.code()).error == (429, "TOO_MANY_ATTEMPTS")


def test_right_code_does_not_count_as_an_attempt(admin_user, browser):
    before = set(AttemptCounter.objects.values_list("key", "count"))
    log_in(browser, admin_user.code())

    assert {row for row in AttemptCounter.objects.values_list("key", "count") if row[1]} <= before


def test_codes_in_django_admin_are_recorded_as_events(admin_user, browser, events):
    log_in(browser, admin_user.wrong_code())
    log_in(browser, admin_user.code())

    assert [event.action for event in events()] == ["auth.2fa.failed", "auth.2fa.verified"]


def test_code_of_an_unconfirmed_authenticator_is_refused(ann, browser):
    ann.set_up()
    get_user_model().objects.update(is_staff=True, is_superuser=True)

    for code in (ann.code(), ann.backup_codes[0]):
        log_in(browser, code)
        assert not has_access(browser)


def test_disabled_second_factor_ends_access_to_the_site(admin_user, browser, clock):
    log_in(browser, admin_user.code())
    clock.forward(seconds=30)
    admin_user.post("2fa/disable", code=admin_user.code())

    assert not has_access(browser)


def test_device_is_found_by_its_persistent_id(admin_user):
    assert verify_token(the_user(), device().persistent_id, admin_user.code()) == device()
