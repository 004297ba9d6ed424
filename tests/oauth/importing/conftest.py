from datetime import UTC, datetime
from io import StringIO

import pytest
from django.apps import apps
from django.core.management import call_command

from tests.oauth.flow.conftest import (
    _messenger,
    _provider,
    api,
    browser,
    oauth,
    post,
    providers,
)
from tests.oauth.providers.conftest import LOOPBACK, settings_of, standin
from tests.support.people import make_user

# These tests require the tables of the other packages: `test_importers.py` one folder above runs
# them in a host that installs them.
collect_ignore_glob = [] if apps.is_installed("social_django") else ["test_*.py"]

__all__ = ["_messenger", "_provider", "api", "browser", "oauth", "post", "providers", "standin"]
OLD = datetime(2024, 2, 3, 4, 5, tzinfo=UTC)
# Subjects as the providers issue them.
GOOGLE, GITHUB = "110169484474386276334", "583231"


@pytest.fixture
def run():
    """`run("social_django", "--dry-run")` returns the output of the command."""

    def run(*arguments):
        out = StringIO()
        call_command("authservice_import", *arguments, stdout=out, stderr=StringIO())
        return out.getvalue()

    return run


@pytest.fixture
def named(configure, standin):
    """`named("github")` configures these providers, which lead to the stand-in; `named(sso={…})`
    has further ones."""

    def change(*names, **more):
        known = {name: settings_of(standin, name) for name in names} | more
        outbound = {"PRIVATE_HOSTS": LOOPBACK, "INSECURE_HOSTS": LOOPBACK}
        configure(OAUTH={"PROVIDERS": known}, OUTBOUND=outbound)

    return change


@pytest.fixture
def configured(configure):
    """`configured("github")` configures these providers with their real addresses."""

    def change(*names, **more):
        keys = {"CLIENT_ID": "our-client", "CLIENT_SECRET": "our-secret", **more}
        configure(OAUTH={"PROVIDERS": dict.fromkeys(names, keys)})

    return change


def social(user, provider="google-oauth2", uid=GOOGLE, *, created=OLD, **more):
    """A link of social-auth-app-django."""
    from social_django.models import UserSocialAuth

    row = UserSocialAuth.objects.create(user=user, provider=provider, uid=uid, **more)
    UserSocialAuth.objects.filter(pk=row.pk).update(created=created)
    return row


def allauth(user, provider="google", uid=GOOGLE, *, joined=OLD, **more):
    """A link of django-allauth."""
    from allauth.socialaccount.models import SocialAccount

    row = SocialAccount.objects.create(user=user, provider=provider, uid=uid, **more)
    SocialAccount.objects.filter(pk=row.pk).update(date_joined=joined)
    return row


@pytest.fixture
def old_user():
    """Ann, whom the other package created and logged in: without a password."""
    return make_user(password=None, last_login=OLD)
