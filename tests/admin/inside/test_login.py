"""The login of Django admin limits guesses, records them and asks for the second factor."""

import pytest
from django.contrib import admin
from django.core import checks
from django.core.cache import caches
from django.test import Client

from authservice.core.models import Account, AttemptCounter
from authservice.core.staff.checks import check_admin_login
from tests.admin.inside.conftest import staff
from tests.client import PASSWORD
from tests.people import deactivate, the_user
from tests.twofactor.people import Person, other_than

pytestmark = pytest.mark.django_db

ROOT = "root@example.com"
LOGIN = "/admin/login/"


@pytest.fixture
def superuser():
    return staff(ROOT, superuser=True)


@pytest.fixture
def log_in(superuser):
    """`log_in(password)` is the answer to the form, sent from an address of its own."""

    def send(password=PASSWORD, *, name="", address="192.0.2.1", client=None, **more):
        form = {
            "username": name or superuser.get_username(),
            "password": password,
            "next": "/admin/",
        }
        return (client or Client(REMOTE_ADDR=address)).post(LOGIN, {**form, **more})

    return send


def entered(answer):
    return answer.status_code == 302 and answer.url == "/admin/"


def errors(answer):
    assert answer.status_code == 200
    return " ".join(str(text) for texts in answer.context["form"].errors.values() for text in texts)


# Guesses


def test_login_with_the_right_password_opens_the_admin(log_in, told):
    client = Client()

    assert entered(log_in(client=client))

    assert client.get("/admin/").status_code == 200
    (event,) = told("auth.login.success")
    assert event.user == the_user(ROOT)
    assert event.metadata == {"method": "django_admin"}


def test_130_wrong_passwords_from_one_address_are_limited_and_recorded(log_in, told):
    answers = [log_in(f"wrong {number}") for number in range(130)]

    assert not any(entered(answer) for answer in answers)
    assert "Too many attempts. Try again in 15 minutes." in errors(answers[10])
    assert "Too many" in errors(answers[-1])
    failed = told("auth.login.failed")
    assert len(failed) == 10  # the rest was refused before any password was judged
    assert {event.user for event in failed} == {the_user(ROOT)}
    assert failed[0].metadata == {"reason": "invalid_credentials", "method": "django_admin"}
    assert failed[0].client.address == "192.0.2.1"
    assert told("security.account.throttled")
    assert "Too many" in errors(log_in())


def test_wrong_passwords_from_many_addresses_are_limited_too(log_in):
    answers = [log_in("wrong", address=f"192.0.2.{number}") for number in range(12)]

    assert "Too many attempts" in errors(answers[-1])


def test_wrong_passwords_for_many_names_from_one_address_are_limited(log_in):
    answers = [log_in("wrong", name=f"nobody{number}@example.com") for number in range(101)]

    assert "Please enter the correct" in errors(answers[-2])
    assert "Too many" in errors(answers[-1])


def test_guesses_at_the_api_and_at_the_admin_share_one_counter(log_in, api):
    name = the_user(ROOT).get_username()
    for _ in range(10):
        api.post("login", **{"email" if "@" in name else "username": name}, password="wrong")

    assert "Too many attempts" in errors(log_in())


def test_a_right_password_gives_its_attempt_back(log_in):
    for _ in range(12):
        assert entered(log_in())

    assert AttemptCounter.objects.get().count == 0


def test_an_unknown_name_and_a_wrong_password_are_one_answer(log_in, told):
    unknown, wrong = log_in("wrong", name="nobody@example.com"), log_in("wrong")

    assert errors(unknown) == errors(wrong)
    assert [event.user for event in told("auth.login.failed")] == [None, the_user(ROOT)]


def test_a_password_longer_than_any_is_not_hashed(log_in, told):
    assert "at most 4096" in errors(log_in("x" * 5000))

    assert not AttemptCounter.objects.exists()


# Who may enter


def test_a_user_who_is_no_staff_is_refused_and_recorded(log_in, api, told):
    api.sign_up("ann@example.com")
    name = the_user("ann@example.com").get_username()

    assert "staff account" in errors(log_in(name=name))

    (event,) = told("auth.login.failed")
    assert event.metadata == {"reason": "not_allowed", "method": "django_admin"}


def test_a_suspended_superuser_is_refused_and_recorded(log_in, told):
    deactivate(ROOT)

    assert "inactive" in errors(log_in())

    (event,) = told("auth.login.failed")
    assert event.metadata["reason"] == "user_not_active"


def test_a_superuser_from_before_the_service_enters(log_in):
    Account.objects.all().delete()

    assert entered(log_in())


def test_a_superuser_logs_in_over_the_api_by_address(superuser, api):
    assert api.log_in(ROOT)["access_token"]


# The second factor


@pytest.fixture
def phone(superuser, api, clock):
    """The superuser's authenticator app, whose next code was not used yet."""
    token = api.log_in(ROOT)
    person = Person(api, ROOT, token["access_token"], token["user"]["id"]).enrol()
    clock.forward(seconds=30)
    caches["default"].clear()
    return person


def test_the_password_alone_is_not_enough_with_a_second_factor(log_in, phone, told):
    client = Client()

    assert "Enter a code" in errors(log_in(client=client))

    assert client.get("/admin/").status_code == 302
    assert told("auth.login.challenged")[0].metadata == {"method": "django_admin"}
    assert not told("auth.login.success")


def test_a_code_of_the_app_opens_the_admin_once(log_in, phone, told):
    assert entered(log_in(code=phone.code()))
    assert "This code is not valid." in errors(log_in(code=phone.code()))

    assert [event.metadata for event in told("auth.2fa.verified")] == [{"method": "totp"}]
    assert len(told("auth.login.success")) == 1


def test_a_backup_code_opens_the_admin_once(log_in, phone, told):
    code = phone.backup_codes[0]

    assert entered(log_in(code=code))
    assert "This code is not valid." in errors(log_in(code=code))

    assert told("auth.2fa.backup_used")


def test_wrong_codes_are_limited_and_recorded(log_in, phone, told, clock):
    wrong = other_than(phone.code())

    answers = [log_in(code=wrong) for _ in range(11)]

    assert "This code is not valid." in errors(answers[9])
    assert "Too many attempts" in errors(answers[10])
    assert len(told("auth.2fa.failed")) == 10
    assert told("auth.login.failed")[0].metadata["reason"] == "two_factor_invalid"
    assert told("security.account.throttled")
    assert "Too many attempts" in errors(log_in(code=phone.code()))


def test_wrong_codes_at_the_api_and_at_the_admin_share_one_counter(log_in, phone):
    wrong = other_than(phone.code())
    for _ in range(10):
        phone.post("2fa/disable", code=wrong)

    assert "Too many attempts" in errors(log_in(code=phone.code()))


def test_a_code_is_not_judged_before_the_password(log_in, phone, told):
    assert "Please enter the correct" in errors(log_in("wrong", code=phone.code()))

    assert not told("auth.2fa.verified")
    assert entered(log_in(code=phone.code()))


def test_a_superuser_without_the_required_factor_is_refused(log_in, configure, told):
    configure(TWOFACTOR={"REQUIRED": "super_admins"})

    assert "set one up in the API first" in errors(log_in())

    assert told("auth.login.failed")[0].metadata["reason"] == "second_factor_required"


# The page and the checks


def test_the_page_shows_a_field_for_each_value(superuser):
    shown = Client().get(LOGIN).content.decode()

    for name in ("username", "password", "code"):
        assert f'name="{name}"' in shown
    assert 'name="next" value="/admin/"' in shown


def test_without_second_factors_no_code_is_asked_for(log_in, monkeypatch):
    monkeypatch.setattr("authservice.core.staff.login_form.plug", lambda slot: None)
    monkeypatch.setattr("authservice.core.staff.admin_login.plug", lambda slot: None)

    assert 'name="code"' not in Client().get(LOGIN).content.decode()
    assert entered(log_in())


def ids():
    return [message.id for message in check_admin_login()]


def test_no_check_warns_of_our_form_with_its_template():
    assert ids() == []


def test_a_check_warns_of_the_stock_form(monkeypatch):
    monkeypatch.setattr(admin.site, "login_form", None)

    assert ids() == ["authservice.W110"]
    assert "authservice.W110" in [message.id for message in checks.run_checks()]


def test_a_check_warns_of_a_template_without_a_field_for_codes(monkeypatch):
    monkeypatch.setattr(admin.site, "login_template", None)

    assert ids() == ["authservice.W114"]


def test_no_check_judges_a_form_of_the_host(monkeypatch):
    class Own(admin.site.login_form):
        pass

    monkeypatch.setattr(admin.site, "login_form", Own)

    assert ids() == []
