"""System checks warn about pages of Django admin that lack the protection of the API."""

from django.contrib import admin
from django.contrib.auth import get_user_model
from django.core import checks
from django.test.utils import isolate_apps

from authservice.core.staff.checks import check_password_change, check_user_pages
from tests.admin.urls import GuardedAdmin, guarded


def ids():
    return [message.id for message in check_user_pages()]


def test_check_warns_about_user_page_without_guard():
    assert ids() == ["authservice.W115"]  # the page of the first site
    assert "authservice.W115" in [message.id for message in checks.run_checks()]


def test_check_accepts_user_pages_with_guard(monkeypatch):
    model = get_user_model()
    monkeypatch.setitem(admin.site._registry, model, GuardedAdmin(model, admin.site))

    assert ids() == []


@isolate_apps()
def test_check_warns_about_page_of_a_proxy_of_the_user_model(monkeypatch):
    model = get_user_model()
    monkeypatch.setitem(admin.site._registry, model, GuardedAdmin(model, admin.site))
    meta = type("Meta", (), {"proxy": True, "app_label": model._meta.app_label})
    proxy = type("Customer", (model,), {"__module__": __name__, "Meta": meta})
    monkeypatch.setitem(guarded._registry, proxy, admin.ModelAdmin(proxy, guarded))

    assert ids() == ["authservice.W115"]


def test_check_accepts_protected_password_change_page():
    assert list(check_password_change()) == []


def test_check_warns_about_password_change_page_of_django(monkeypatch):
    monkeypatch.delattr(admin.site, "password_change")

    assert [message.id for message in check_password_change()] == ["authservice.W116"]
    assert "authservice.W116" in [message.id for message in checks.run_checks()]
