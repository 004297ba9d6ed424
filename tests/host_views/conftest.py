import pytest
from django.test import AsyncClient

OURS = "authservice.middleware.AuthserviceMiddleware"


@pytest.fixture(autouse=True)
def _views(settings):
    settings.ROOT_URLCONF = "tests.host_views.urls"


@pytest.fixture
def middleware(settings):
    """`middleware("…")` adds ours and these at the end."""

    def add(*paths):
        settings.MIDDLEWARE = [*settings.MIDDLEWARE, OURS, *paths]

    return add


@pytest.fixture
def ann(api):
    """The tokens and the user of Ann, who has signed up."""
    return api.sign_up()


@pytest.fixture
def aclient():
    return AsyncClient()


def bearer(tokens):
    return {"Authorization": f"Bearer {tokens['access_token']}"}
