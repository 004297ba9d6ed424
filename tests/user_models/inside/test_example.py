"""The example of a user model in Django's documentation: `is_admin`, and no `is_superuser`."""

import pytest
from django.contrib.auth import get_user_model
from django.core.checks import run_checks
from django.core.management import CommandError, call_command

from authservice.core.models import Account
from tests.support.client import PASSWORD
from tests.user_models.inside.users import log_in, make_user

pytestmark = pytest.mark.django_db

EMAIL = "ann@example.com"


@pytest.fixture
def token(api, monkeypatch):
    monkeypatch.setenv("DJANGO_SUPERUSER_PASSWORD", PASSWORD)
    call_command("createsuperuser", email=EMAIL, interactive=False, verbosity=0)
    return log_in(api).data["access_token"]


def test_command_makes_the_first_super_admin(api, token, capsys):
    assert api.get("admin/users", token=token).error == (403, "FORBIDDEN")

    call_command("authservice_super_admin", EMAIL)

    assert "is now a super admin" in capsys.readouterr().out
    assert api.get("admin/users", token=token).status == 200


def test_command_takes_the_flag_back_unless_it_is_the_last(api, token, capsys):
    make_user(email="bob@example.com")
    call_command("authservice_super_admin", "bob@example.com")
    call_command("authservice_super_admin", EMAIL)

    call_command("authservice_super_admin", EMAIL, remove=True)

    assert "is no longer a super admin" in capsys.readouterr().out
    assert api.get("admin/users", token=token).error == (403, "FORBIDDEN")
    with pytest.raises(CommandError, match="stays a super admin"):
        call_command("authservice_super_admin", "bob@example.com", remove=True)


def test_command_says_that_nothing_changed(token, capsys):
    call_command("authservice_super_admin", EMAIL, remove=True)
    call_command("authservice_super_admin", EMAIL)
    call_command("authservice_super_admin", EMAIL)

    assert "was not a super admin" in (output := capsys.readouterr().out)
    assert "is already a super admin" in output


def test_property_is_superuser_makes_a_super_admin(api, token, monkeypatch):
    user = get_user_model()
    monkeypatch.setattr(user, "is_superuser", property(lambda self: self.is_admin), raising=False)

    assert api.get("admin/users", token=token).status == 200
    with pytest.raises(CommandError, match="stays a super admin"):
        call_command("authservice_super_admin", EMAIL, remove=True)


def test_superusers_by_a_property_delete_each_other_but_not_the_last(api, token, monkeypatch):
    user = get_user_model()
    monkeypatch.setattr(user, "is_superuser", property(lambda self: self.is_admin), raising=False)
    bob = make_user(email="bob@example.com", is_admin=True)

    assert api.request("DELETE", f"admin/users/{bob.pk}", token=token).status == 200
    assert Account.objects.count() == 1


def test_check_names_the_command(monkeypatch):
    def hints():
        found = run_checks(tags=["authservice"])
        return [one.hint for one in found if one.id == "authservice.I082"]

    assert "authservice_super_admin" in hints()[0]
    monkeypatch.setattr(get_user_model(), "is_superuser", True, raising=False)
    assert hints() == []
