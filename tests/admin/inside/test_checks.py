"""System checks warn about pages of Django admin that lack the protection of the API."""

from django.contrib import admin
from django.contrib.auth import get_user_model
from django.contrib.auth.forms import AuthenticationForm
from django.contrib.auth.models import Group
from django.contrib.auth.views import LoginView
from django.core import checks
from django.test.utils import isolate_apps
from django.urls import include, path

from authservice.core.staff.admin_pages import SuperAdminGuard
from authservice.core.staff.admin_site import protect
from authservice.core.staff.checks import check_login_views, check_password_change, check_user_pages
from authservice.core.staff.login_form import AdminAuthenticationForm
from tests.admin.urls import GuardedAdmin, guarded


def ids():
    return [message.id for message in check_user_pages()]


def test_check_warns_about_user_page_without_guard():
    assert ids() == ["authservice.W115"]  # the page of the first site
    assert "authservice.W115" in [message.id for message in checks.run_checks(databases=[])]


def test_protect_adds_guard_to_registered_user_pages():
    class Page(admin.ModelAdmin):
        ordering = ("pk",)

    site = admin.AdminSite(name="own")
    site.register(get_user_model(), Page)
    site.register(Group)
    groups = type(site.get_model_admin(Group))

    protect(site)

    page = site.get_model_admin(get_user_model())
    assert isinstance(page, SuperAdminGuard)
    assert (page.ordering, type(page).__name__) == (("pk",), "Page")
    assert type(site.get_model_admin(Group)) is groups
    assert not issubclass(Page, SuperAdminGuard)


def test_check_reports_unprotected_site_once(monkeypatch):
    monkeypatch.setattr(admin.site, "login_form", None)
    monkeypatch.delattr(admin.site, "password_change")

    assert [message.id for message in checks.run_checks(databases=[]) if "W11" in message.id] == [
        "authservice.W110"
    ]


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
    assert "authservice.W116" in [message.id for message in checks.run_checks(databases=[])]


class OwnLogin(LoginView):
    authentication_form = AdminAuthenticationForm


class RenamedLogin(LoginView):
    """A login of a project, with Django's form."""

    form_class = type("Form", (AuthenticationForm,), {"__module__": "django_otp.forms"})


def login_views(settings, *views):
    """The warnings with these views in the URLconf of the project."""
    patterns = [path(f"{name}/", view) for name, view in enumerate(views)]
    urls = [path("accounts/", include(patterns)), path("admin/", admin.site.urls)]
    settings.ROOT_URLCONF = type("urls", (), {"urlpatterns": urls, "__name__": "urls"})
    return [(message.id, message.msg.split("'")[1]) for message in check_login_views()]


def test_check_warns_about_login_view_of_django(settings):
    views = (LoginView.as_view(), RenamedLogin.as_view())

    found = login_views(settings, *views)

    assert found == [("authservice.W118", "accounts/0/"), ("authservice.W118", "accounts/1/")]
    assert "authservice.W118" in [message.id for message in checks.run_checks(databases=[])]


def test_check_accepts_login_view_with_form_of_this_service(settings):
    by_option = LoginView.as_view(authentication_form=AdminAuthenticationForm)

    assert login_views(settings, OwnLogin.as_view(), by_option) == []
