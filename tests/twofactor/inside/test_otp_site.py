"""django-otp's middleware, forms and admin site take the codes of our authenticators."""

import re

import pytest
from django.contrib.auth import get_user_model
from django_otp import DEVICE_ID_SESSION_KEY, devices_for_user, user_has_device, verify_token

from authservice.core.models import AttemptCounter
from authservice.twofactor.models import Authenticator
from tests.client import PASSWORD
from tests.people import the_user

pytestmark = pytest.mark.django_db
SITE, LOGIN = "/otp/", "/otp/login/?next=/otp/"


@pytest.fixture
def boss(enrolled):
    """Somebody with a factor who may enter Django admin."""
    get_user_model().objects.update(is_staff=True, is_superuser=True)
    return enrolled


def device():
    return Authenticator.objects.get()


def fill_in(browser, token, chosen=None):
    form = {
        "username": the_user().get_username(),
        "password": PASSWORD,
        "otp_device": device().persistent_id if chosen is None else chosen,
        "otp_token": token,
    }
    return browser.post(LOGIN, form)


def inside(browser):
    return browser.get(SITE).status_code == 200


def test_a_confirmed_one_is_a_device_of_its_user(boss):
    assert list(devices_for_user(the_user())) == [device()]


def test_one_that_was_only_set_up_is_none(ann):
    ann.set_up()

    assert not user_has_device(the_user())


def test_a_code_lets_staff_into_the_site(boss, browser):
    assert fill_in(browser, boss.code()).status_code == 302
    assert inside(browser)
    assert browser.session[DEVICE_ID_SESSION_KEY] == device().persistent_id


def test_so_does_a_backup_code_once(boss, browser):
    assert fill_in(browser, boss.backup_codes[0]).status_code == 302
    browser.logout()

    assert fill_in(browser, boss.backup_codes[0]).status_code == 200
    assert not inside(browser)


def test_the_password_alone_does_not(boss, browser):
    fill_in(browser, "")
    assert not inside(browser)

    browser.force_login(the_user())
    assert not inside(browser)


def test_the_form_names_the_device(boss, browser):
    page = fill_in(browser, "", "").content.decode()

    assert re.search(rf'value="{device().persistent_id}"[^>]*>Authenticator app', page)


@pytest.mark.parametrize("spell", ["{} ", "+{}", "0{}"])
def test_a_code_has_one_spelling_there_too(boss, spell):
    assert device().verify_token(spell.format(boss.code())) is False


def test_a_code_works_once_there_and_here_together(boss, browser):
    code = boss.code()
    fill_in(browser, code)
    browser.logout()

    fill_in(browser, code)
    assert not inside(browser)
    assert boss.verify_login(code).error == (401, "TWO_FACTOR_INVALID")


def test_one_used_here_is_used_there(boss, browser):
    code = boss.code()
    assert boss.verify_login(code).status == 200

    fill_in(browser, code)
    assert not inside(browser)


def test_tries_there_and_here_are_counted_together(boss, browser):
    for _ in range(5):
        fill_in(browser, boss.wrong_code())
        boss.verify_login(boss.wrong_code())

    fill_in(browser, boss.code())
    assert not inside(browser)
    assert boss.verify_login(boss.code()).error == (429, "TOO_MANY_ATTEMPTS")


def test_a_right_code_gives_its_count_back(boss, browser):
    before = set(AttemptCounter.objects.values_list("key", "count"))
    fill_in(browser, boss.code())

    assert {row for row in AttemptCounter.objects.values_list("key", "count") if row[1]} <= before


def test_what_happens_there_is_told(boss, browser, told):
    fill_in(browser, boss.wrong_code())
    fill_in(browser, boss.code())

    assert [event.action for event in told()] == ["auth.2fa.failed", "auth.2fa.verified"]


def test_one_that_is_not_confirmed_opens_nothing(ann, browser):
    ann.set_up()
    get_user_model().objects.update(is_staff=True, is_superuser=True)

    for code in (ann.code(), ann.backup_codes[0]):
        fill_in(browser, code)
        assert not inside(browser)


def test_the_middleware_forgets_one_that_was_given_up(boss, browser, clock):
    fill_in(browser, boss.code())
    clock.forward(seconds=30)
    boss.post("2fa/disable", code=boss.code())

    assert not inside(browser)


def test_it_is_found_by_its_persistent_id(boss):
    assert verify_token(the_user(), device().persistent_id, boss.code()) == device()
