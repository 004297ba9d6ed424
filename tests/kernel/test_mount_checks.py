"""System checks of the URLconf: it includes the service, whose routes are found by their names."""

from types import ModuleType

import pytest
from django.conf.urls.i18n import i18n_patterns
from django.core.checks import run_checks
from django.urls import include, path, re_path
from django.views import View

from authservice import urls as ours
from authservice.kernel.checks import message

pytestmark = pytest.mark.django_db

SHOP = path("shop/", View.as_view())
MOUNTED = include("authservice.urls")


@pytest.fixture
def found(settings):
    """`found(*patterns)`: ids of what the checks say about the mount if these are the URLs of the
    project."""

    def check(*patterns):
        project = ModuleType("project_urls")
        project.urlpatterns = list(patterns)
        settings.ROOT_URLCONF = project
        numbers = ("E011", "W012", "W013", "W014")
        return [
            found.id[-4:] for found in run_checks(databases=[]) if (found.id or "")[-4:] in numbers
        ]

    return check


@pytest.mark.parametrize(
    "patterns",
    [
        [path("auth/", MOUNTED)],
        [SHOP, path("api/", include([SHOP, path("v1/", include([path("auth/", MOUNTED)]))]))],
        [re_path(r"^auth/", MOUNTED)],
        [path("auth/", include(ours))],
        [path("auth/", include((ours.urlpatterns, "authservice")))],
        [path("auth/", include(("authservice.urls", "accounts")))],
        i18n_patterns(path("auth/", MOUNTED)),
        [path("auth/", include("authservice.urls", namespace="accounts"))],
        # All routes work below both, so two includes are no mistake.
        [path("auth/", MOUNTED), path("v1/", include("authservice.urls", namespace="old"))],
    ],
    ids=range(9),
)
def test_included_service_passes_the_checks(found, patterns):
    assert found(*patterns) == []


@pytest.mark.parametrize("patterns", [[], [SHOP], [path("api/", include([SHOP]))]], ids=range(3))
def test_service_that_no_urlconf_includes_is_a_warning(found, patterns):
    assert found(*patterns) == ["W013"]


def test_hint_to_include_the_service_names_the_accounts_of_old_users_first():
    """Without them, the first proof of an old address removes earlier access."""
    hint = message("authservice.W013").hint

    assert 0 < hint.index("authservice_sync_accounts") < hint.index("include(")


@pytest.mark.parametrize(
    "pattern",
    [
        path("api/", include(([path("auth/", MOUNTED)], "api"))),
        path("<slug:tenant>/auth/", MOUNTED),
    ],
    ids=["namespace", "parameter"],
)
def test_service_whose_routes_cannot_be_reversed_is_a_warning(found, pattern):
    assert found(pattern) == ["W014"]


@pytest.mark.parametrize(
    "pattern",
    [path("", include([path("", MOUNTED)])), re_path(r"^", MOUNTED), re_path("", MOUNTED)],
    ids=["nested", "regex", "empty regex"],
)
def test_service_without_a_prefix_is_an_error(found, pattern):
    assert found(SHOP, pattern) == ["E011"]


def test_second_include_without_a_prefix_is_an_error(found):
    last = path("", include("authservice.urls", namespace="old"))

    assert found(path("auth/", MOUNTED), last) == ["E011"]


def test_prefix_of_a_nested_include_that_api_url_repeats_is_a_warning(found, configure):
    configure(API_URL="https://api.example.com/api/auth")

    assert found(path("api/", include([path("auth/", MOUNTED)]))) == ["W012"]


def test_urlconf_that_cannot_be_imported_is_left_to_django(settings):
    settings.ROOT_URLCONF = "tests.kernel.no_such_urls"

    found = run_checks(tags=["authservice"])

    assert not [one for one in found if one.id in ("authservice.W013", "authservice.W014")]
