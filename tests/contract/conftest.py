import pytest
from django.apps import apps
from django.db import connection

# It walks the pages of all modules, whose helpers need the tables of invitations.
collect_ignore = [] if apps.is_installed("authservice.invitation") else ["test_prefetch.py"]


@pytest.fixture(autouse=True)
def _provider(settings):
    """The identity provider `1`, since the tests of all routes put 1 for each part of a path."""
    if apps.is_installed("authservice.oauth"):
        provider = {
            "CLASS": "tests.oauth.in_process.InProcess",
            "CLIENT_ID": "our-client",
            "CLIENT_SECRET": "our-secret",
            "FORM_POST": True,
            "NATIVE_REDIRECT_URIS": ["com.example.app:/"],
        }
        settings.AUTHSERVICE = {
            **settings.AUTHSERVICE,
            "OAUTH": {"PROVIDERS": {"1": provider}},
        }


@pytest.fixture
def away(monkeypatch):
    """Call it to refuse all connections to the database from then on."""

    def away():
        connection.close()
        monkeypatch.setitem(connection.settings_dict, "HOST", "127.0.0.1")
        monkeypatch.setitem(connection.settings_dict, "PORT", "1")

    yield away
    connection.close()
    monkeypatch.undo()
