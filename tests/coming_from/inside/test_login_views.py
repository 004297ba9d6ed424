"""A check warns of login views of other packages: they ask for no second factor of this service."""

import re

import allauth.headless.account.views as headless
import allauth.headless.mfa.views as headless_mfa
import dj_rest_auth.registration.views as registration
import dj_rest_auth.views as rest_auth
import django_otp.views as otp
import knox.views as knox
import pytest
from allauth.account import views as allauth
from allauth.headless.constants import Client
from allauth.socialaccount.providers.google import views as google
from django.contrib.auth.views import LoginView
from django.core import checks
from django.urls import include, path
from django.views.generic import RedirectView
from rest_framework.authentication import BasicAuthentication, TokenAuthentication
from rest_framework.authtoken.views import obtain_auth_token
from rest_framework.permissions import AllowAny
from rest_framework_simplejwt import views as simplejwt
from two_factor.views import LoginView as TwoFactorLogin

from authservice.core.staff import checks as staff_checks
from authservice.core.staff.checks import check_login_views


class OwnAllauthLogin(allauth.LoginView):
    """A login of a project."""


class GoogleLogin(registration.SocialLoginView):
    """A login of a project, as the documentation of dj-rest-auth has it."""


class KnoxLogin(knox.LoginView):
    """A login of a project, as the documentation of knox has it."""

    permission_classes = (AllowAny,)


class KnoxBasicLogin(knox.LoginView):
    authentication_classes = (BasicAuthentication,)


class KnoxTrade(knox.LoginView):
    """Trades a token for another one."""

    authentication_classes = (TokenAuthentication,)


@pytest.fixture
def warnings(settings):
    """`warnings(view, …)` are the texts of the check with these views in the URLconf."""

    def run(*views, patterns=()):
        urls = [path(f"{number}/", view) for number, view in enumerate(views)]
        module = type("urls", (), {"urlpatterns": [*patterns, *urls], "__name__": "urls"})
        settings.ROOT_URLCONF = module
        return [it.msg for it in check_login_views()]

    return run


@pytest.mark.parametrize(
    ("package", "view"),
    [
        ("django-allauth", allauth.login),
        ("django-allauth", OwnAllauthLogin.as_view()),
        ("django-allauth", allauth.request_login_code),
        ("django-allauth", headless.LoginView.as_api_view(client=Client.BROWSER)),
        ("django-allauth", headless.LoginView.as_api_view(client=Client.APP)),
        ("django-allauth", google.oauth2_callback),
        ("dj-rest-auth", rest_auth.LoginView.as_view()),
        ("dj-rest-auth", GoogleLogin.as_view()),
        ("django-rest-knox", KnoxLogin.as_view()),
        ("django-rest-knox", KnoxBasicLogin.as_view()),
        ("django-rest-knox", knox.LoginView.as_view(permission_classes=[AllowAny])),
        ("Django REST framework", obtain_auth_token),
        ("simplejwt", simplejwt.token_obtain_pair),
        ("simplejwt", simplejwt.token_obtain_sliding),
        ("django-two-factor-auth", TwoFactorLogin.as_view()),
    ],
)
def test_check_warns_about_login_view_of_another_package(package, view, warnings):
    (text,) = warnings(view)

    assert f"Users log in with {package} at '0/'" in text
    assert "authservice.W118" in [message.id for message in checks.run_checks(databases=[])]


@pytest.mark.parametrize("name", ["djoser.views.TokenCreateView", "social_django.views.complete"])
def test_check_warns_about_login_view_of_package_that_is_not_installed(name, warnings):
    module, _, qualified = name.rpartition(".")

    def view(request):
        """A dummy of the view of the package."""

    view.__module__, view.__qualname__ = module, qualified

    assert len(warnings(view)) == 1


def test_check_accepts_other_views_of_the_packages(warnings):
    views = (
        allauth.logout,
        allauth.reauthenticate,
        rest_auth.LogoutView.as_view(),
        registration.SocialConnectView.as_view(authentication_classes=[TokenAuthentication]),
        simplejwt.token_refresh,
        KnoxTrade.as_view(),
    )

    assert warnings(*views) == []


def test_check_names_the_first_routes_of_a_package(warnings):
    (text,) = warnings(
        patterns=[path("accounts/", include("allauth.urls"))]
        + [path(f"other{number}/", allauth.login) for number in range(4)]
    )

    assert "at 'accounts/login/', 'other0/', 'other1/' and 2 more: " in text


def test_check_accepts_login_route_that_a_redirect_replaces(warnings):
    redirect = RedirectView.as_view(pattern_name="authservice:page-login", query_string=True)

    patterns = [
        path("accounts/login/", redirect),
        path("accounts/", include("allauth.account.urls")),
    ]

    assert warnings(patterns=patterns) == []
    assert len(warnings(patterns=patterns[::-1])) == 1


def test_check_is_silent_about_other_packages_without_second_factors(warnings, monkeypatch):
    monkeypatch.setattr(staff_checks, "plugs", lambda slot: ())

    assert warnings(allauth.login) == []
    assert len(warnings(LoginView.as_view())) == 1


def test_check_accepts_login_view_that_chooses_its_form_by_the_request(warnings):
    class ByTenant(LoginView):
        def get_form_class(self):
            return self.request.tenant.form_class

    assert warnings(ByTenant.as_view()) == []


def test_check_warns_about_login_view_of_django_otp(warnings):
    (text,) = warnings(otp.LoginView.as_view())

    assert "does not limit attempts" in text


@pytest.mark.parametrize("module", [headless, headless_mfa])
def test_every_login_of_the_headless_api_is_named(warnings, module):
    names = [name for name in vars(module) if re.match("(Request)?Login.*View$", name)]
    assert names

    for name in names:
        [text] = warnings(getattr(module, name).as_api_view(client=Client.BROWSER))
        assert "django-allauth" in text
