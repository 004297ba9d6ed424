"""The path below which a project included the URLs, however it did."""

from types import ModuleType

import pytest
from django.conf.urls.i18n import i18n_patterns
from django.test import Client
from django.urls import get_script_prefix, include, path, set_script_prefix
from django.utils import translation

from authservice.kernel.sections import mount

pytestmark = pytest.mark.django_db


@pytest.fixture
def included(settings):
    """`included(*patterns)` makes these the URLs of the project."""

    def use(*patterns):
        project = ModuleType("project_urls")
        project.urlpatterns = list(patterns)
        settings.ROOT_URLCONF = project

    return use


def assert_served_below(base):
    """Our routes are below the path: a request without a token is refused, not lost."""
    inside = "/" + base.removeprefix(get_script_prefix())
    assert Client().get(f"{inside}me").json()["data"]["code"] == "UNAUTHORIZED"


@pytest.mark.parametrize("base", ["", "auth/", "api/v1/auth/"])
def test_mount_is_the_path_of_the_include(included, base):
    included(path(base, include("authservice.urls")))

    assert mount() == f"/{base}"
    assert_served_below(f"/{base}")


def test_mount_has_the_script_prefix(included):
    included(path("auth/", include("authservice.urls")))
    before = get_script_prefix()
    set_script_prefix("/app/")
    try:
        assert mount() == "/app/auth/"
    finally:
        set_script_prefix(before)


@pytest.mark.parametrize("language", ["en", "de"])
def test_mount_below_i18n_patterns_is_that_of_the_active_language(included, settings, language):
    settings.MIDDLEWARE = [*settings.MIDDLEWARE, "django.middleware.locale.LocaleMiddleware"]
    included(*i18n_patterns(path("auth/", include("authservice.urls"))))

    with translation.override(language):
        assert mount() == f"/{language}/auth/"
        assert_served_below(mount())


def test_description_below_i18n_patterns_names_the_mount_of_its_language(included, settings):
    settings.MIDDLEWARE = [*settings.MIDDLEWARE, "django.middleware.locale.LocaleMiddleware"]
    included(*i18n_patterns(path("auth/", include("authservice.urls"))))

    for language in ("en", "de"):
        with translation.override(language):  # which the request would leave active
            described = Client().get(f"/{language}/auth/openapi.json").json()
        assert described["servers"] == [{"url": f"/{language}/auth"}]


def test_mount_of_two_includes_is_the_one_without_a_namespace(included):
    included(
        path("auth/", include("authservice.urls")),
        path("v1/auth/", include("authservice.urls", namespace="old")),
    )

    assert mount() == "/auth/"
    assert_served_below("/auth/")
    assert_served_below("/v1/auth/")
