"""The login of Django admin limits and records attempts and requires the second factor."""

import pytest
from django.contrib import admin
from django.core import checks
from django.core.cache import caches
from django.test import Client

from authservice.core.models import Account, AttemptCounter
from authservice.core.staff.checks import check_admin_login
from authservice.passkeys.models import Handle, Passkey
from tests.admin.inside.conftest import staff
from tests.support.client import PASSWORD
from tests.support.people import deactivate, the_user
from tests.twofactor.people import Person, other_than

pytestmark = pytest.mark.django_db

ROOT = "root@example.com"
LOGIN = "/admin/login/"


@pytest.fixture
def superuser():
    return staff(ROOT, superuser=True)


@pytest.fixture
def log_in(superuser):
    """`log_in(password)` submits the login form and returns the response."""

    def send(password=PASSWORD, *, name="", address="192.0.2.1", client=None, **more):
        form = {
            "username": name or superuser.get_username(),
            "password": password,
            "next": "/admin/",
        }
        return (client or Client(REMOTE_ADDR=address)).post(LOGIN, {**form, **more})

    return send


def logged_in(answer):
    return answer.status_code == 302 and answer.url == "/admin/"


def errors(answer):
    assert answer.status_code == 200
    return " ".join(str(text) for texts in answer.context["form"].errors.values() for text in texts)


# Attempts


def test_admin_login_with_correct_password_succeeds(log_in, recorded):
    client = Client()

    assert logged_in(log_in(client=client))

    assert client.get("/admin/").status_code == 200
    (event,) = recorded("auth.login.success")
    assert event.user == the_user(ROOT)
    assert event.metadata == {"method": "django_admin"}


# 130 are more than an address may send. The quick suite sends 20: Django renders each refusal.
@pytest.mark.parametrize("number", [20, pytest.param(130, marks=pytest.mark.slow)])
def test_admin_login_with_wrong_passwords_is_limited_and_recorded(log_in, recorded, number):
    answers = [log_in(f"wrong {n}") for n in range(number)]

    assert not any(logged_in(answer) for answer in answers)
    assert "Too many attempts. Try again in 15 minutes." in errors(answers[10])
    assert "Too many" in errors(answers[-1])
    failed = recorded("auth.login.failed")
    assert len(failed) == 10  # the others were refused before any password was checked
    assert {event.user for event in failed} == {the_user(ROOT)}
    assert failed[0].metadata == {"reason": "invalid_credentials", "method": "django_admin"}
    assert failed[0].client.address == "192.0.2.1"
    assert recorded("security.account.throttled")
    assert "Too many" in errors(log_in())


def test_admin_login_limits_wrong_passwords_from_many_addresses(log_in):
    answers = [log_in("wrong", address=f"192.0.2.{number}") for number in range(12)]

    assert "Too many attempts" in errors(answers[-1])


def test_admin_login_limits_wrong_passwords_for_many_names_from_one_address(clock, log_in):
    answers = [log_in("wrong", name=f"nobody{number}@example.com") for number in range(101)]

    assert "Please enter the correct" in errors(answers[-2])
    assert "Too many" in errors(answers[-1])


def test_admin_login_shares_the_attempt_counter_with_the_api(log_in, api):
    name = the_user(ROOT).get_username()
    for _ in range(10):
        api.post("login", **{"email" if "@" in name else "username": name}, password="wrong")

    assert "Too many attempts" in errors(log_in())


def test_admin_login_with_correct_password_is_not_counted(log_in):
    for _ in range(12):
        assert logged_in(log_in())

    assert AttemptCounter.objects.get().count == 0


def test_admin_login_answers_unknown_name_like_wrong_password(log_in, recorded):
    unknown, wrong = log_in("wrong", name="nobody@example.com"), log_in("wrong")

    assert errors(unknown) == errors(wrong)
    assert [event.user for event in recorded("auth.login.failed")] == [None, the_user(ROOT)]


def test_admin_login_does_not_hash_too_long_password(log_in, recorded):
    assert "at most 4096" in errors(log_in("x" * 5000))

    assert not AttemptCounter.objects.exists()


# Permissions


def test_admin_login_of_user_without_staff_flag_is_refused_and_recorded(log_in, api, recorded):
    api.sign_up("ann@example.com")
    name = the_user("ann@example.com").get_username()

    assert "staff account" in errors(log_in(name=name))

    (event,) = recorded("auth.login.failed")
    assert event.metadata == {"reason": "not_allowed", "method": "django_admin"}


def test_admin_login_of_suspended_superuser_is_refused_and_recorded(log_in, recorded):
    deactivate(ROOT)

    assert "inactive" in errors(log_in())

    (event,) = recorded("auth.login.failed")
    assert event.metadata["reason"] == "user_not_active"


def test_admin_login_of_superuser_without_account_succeeds(log_in):
    Account.objects.all().delete()

    assert logged_in(log_in())


def test_superuser_logs_in_with_the_api_by_address(superuser, api):
    assert api.log_in(ROOT)["access_token"]


# The second factor


@pytest.fixture
def phone(superuser, api, clock):
    """The authenticator app of the superuser; its next code is unused."""
    token = api.log_in(ROOT)
    person = Person(api, ROOT, token["access_token"], token["user"]["id"]).enrol()
    clock.forward(seconds=30)
    caches["default"].clear()
    return person


def test_admin_login_requires_code_of_user_with_second_factor(log_in, phone, recorded):
    client = Client()

    assert "Enter a code" in errors(log_in(client=client))

    assert client.get("/admin/").status_code == 302
    assert recorded("auth.login.challenged")[0].metadata == {"method": "django_admin"}
    assert not recorded("auth.login.success")


def test_admin_login_accepts_totp_code_once(log_in, phone, recorded):
    assert logged_in(log_in(code=phone.code()))
    assert "This code is not valid." in errors(log_in(code=phone.code()))

    assert [event.metadata for event in recorded("auth.2fa.verified")] == [{"method": "totp"}]
    assert len(recorded("auth.login.success")) == 1


def test_admin_login_accepts_a_code_as_apps_show_it(log_in, phone):
    code = phone.code()

    assert logged_in(log_in(code=f"{code[:3]}\u00a0{code[3:]}"))


def test_admin_login_accepts_backup_code_once(log_in, phone, recorded):
    code = phone.backup_codes[0]

    assert logged_in(log_in(code=code))
    assert "This code is not valid." in errors(log_in(code=code))

    assert recorded("auth.2fa.backup_used")


def test_admin_login_limits_and_records_wrong_codes(log_in, phone, recorded, clock):
    wrong = other_than(phone.code())

    answers = [log_in(code=wrong) for _ in range(11)]

    assert "This code is not valid." in errors(answers[9])
    assert "Too many attempts" in errors(answers[10])
    assert len(recorded("auth.2fa.failed")) == 10
    assert recorded("auth.login.failed")[0].metadata["reason"] == "two_factor_invalid"
    assert recorded("security.account.throttled")
    assert "Too many attempts" in errors(log_in(code=phone.code()))


def test_admin_login_shares_the_counter_of_wrong_codes_with_the_api(log_in, phone):
    wrong = other_than(phone.code())
    for _ in range(10):
        phone.post("2fa/disable", code=wrong)

    assert "Too many attempts" in errors(log_in(code=phone.code()))


def test_admin_login_checks_the_password_before_the_code(log_in, phone, recorded):
    assert "Please enter the correct" in errors(log_in("wrong", code=phone.code()))

    assert not recorded("auth.2fa.verified")
    assert logged_in(log_in(code=phone.code()))


def test_admin_login_without_required_second_factor_is_refused(log_in, configure, recorded):
    configure(TWOFACTOR={"REQUIRED": "super_admins"})

    assert "sign in to the service, which sets one up" in errors(log_in())

    assert recorded("auth.login.failed")[0].metadata["reason"] == "second_factor_required"


def test_admin_login_of_support_staff_needs_a_factor_if_it_is_required_of_staff(
    log_in, configure, recorded
):
    supporter = staff("support@example.com", "view_account")
    configure(TWOFACTOR={"REQUIRED": "super_admins"})
    assert logged_in(log_in(name=supporter.get_username()))

    configure(TWOFACTOR={"REQUIRED": "staff"})

    assert "sign in to the service" in errors(log_in(name=supporter.get_username()))
    assert recorded("auth.login.failed")[0].metadata["reason"] == "second_factor_required"


def test_admin_login_asks_for_a_code_also_if_passkeys_come_first(
    superuser, phone, log_in, settings
):
    others = [app for app in settings.INSTALLED_APPS if app != "authservice.passkeys"]
    settings.INSTALLED_APPS = ["authservice.passkeys", *others]
    a_passkey(superuser)

    assert "Enter a code" in errors(log_in())
    assert logged_in(log_in(code=phone.code()))


def test_admin_login_of_a_user_with_only_a_passkey_says_where_to_log_in(
    superuser, log_in, recorded
):
    a_passkey(superuser)

    assert "This page cannot ask for your passkey" in errors(log_in())
    assert "This page cannot ask for your passkey" in errors(log_in(code="123456"))

    assert recorded("auth.login.failed")[0].metadata["reason"] == "passkey_required"


def a_passkey(user):
    Handle.objects.create(user=user, value="handle")
    Passkey.objects.create(
        user=user, credential_id="id", credential_digest="digest", name="Phone", second_factor=True
    )


# The page and the checks


def test_admin_login_page_shows_a_field_for_each_value(superuser):
    shown = Client().get(LOGIN).content.decode()

    for name in ("username", "password", "code"):
        assert f'name="{name}"' in shown
    assert 'name="next" value="/admin/"' in shown


def test_admin_login_without_two_factor_module_asks_for_no_code(log_in, monkeypatch):
    monkeypatch.setattr("authservice.core.staff.login_form.plugs", lambda slot: ())
    monkeypatch.setattr("authservice.core.staff.admin_login.plugs", lambda slot: ())

    assert 'name="code"' not in Client().get(LOGIN).content.decode()
    assert logged_in(log_in())


def ids():
    return [message.id for message in check_admin_login()]


def test_admin_login_check_accepts_the_protected_form():
    assert ids() == []


def test_admin_login_check_warns_about_the_form_of_django(monkeypatch):
    monkeypatch.setattr(admin.site, "login_form", None)

    assert ids() == ["authservice.W110"]
    assert "authservice.W110" in [message.id for message in checks.run_checks(databases=[])]


def test_admin_login_check_warns_about_template_without_code_field(monkeypatch):
    monkeypatch.setattr(admin.site, "login_template", None)

    assert ids() == ["authservice.W114"]


def test_admin_login_check_ignores_form_of_the_host(monkeypatch):
    class Own(admin.site.login_form):
        pass

    monkeypatch.setattr(admin.site, "login_form", Own)

    assert ids() == []
