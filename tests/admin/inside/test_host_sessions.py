"""Sessions of Django admin in a host project: its own views, and users whom its middleware sets."""

import pytest
from django.contrib.auth import get_user_model
from django.core.management import call_command
from django.test import Client, RequestFactory

from authservice.core.api import identity
from authservice.core.models import Account
from tests.admin.inside.browsers import BOSS, ROOT, logged_in, raise_version, without_versions
from tests.admin.inside.conftest import staff
from tests.support.people import make_user, the_user

pytestmark = pytest.mark.django_db


def identified(client, user):
    """Whether a view of the host project knows the user of Django's session."""
    request = RequestFactory().get("/")
    request.session, request.user = client.session, user
    return identity.of(request).user.is_authenticated


def test_host_view_does_not_accept_an_ended_session(thief, root_user):
    assert identified(thief, root_user)

    raise_version()

    assert not identified(thief, root_user)


def test_host_view_accepts_session_without_versions(root_user):
    client = without_versions(root_user)

    raise_version()

    assert identified(client, root_user)


@pytest.mark.parametrize("account", [True, False])
def test_host_view_accepts_no_session_after_an_operator_revoked_all(thief, account):
    user = make_user("carol@example.com")
    if not account:
        Account.objects.filter(user=user).delete()
    client = Client()
    client.force_login(user)
    assert identified(client, user)

    call_command("authservice_revoke", "--all", "--noinput", "--batch-size", "1")

    assert not identified(client, user)


# Users whom a middleware of the host project sets


def acting_as(get_response):
    """Sets the user of a header, without a session of that user."""

    def middleware(request):
        if name := request.headers.get("X-As"):
            request.user = get_user_model().objects.get(email=name)
        return get_response(request)

    return middleware


@pytest.fixture
def as_root(settings, root_user):
    """The header of a user whose sessions once ended."""
    settings.MIDDLEWARE = [*settings.MIDDLEWARE, f"{__name__}.acting_as"]
    raise_version()
    return {"X-As": ROOT}


def test_user_without_a_session_is_not_logged_out(as_root):
    assert Client().get("/admin/", headers=as_root).status_code == 200


def test_session_of_staff_who_act_as_another_user_is_checked_with_their_own_versions(as_root):
    client = logged_in(staff(BOSS, superuser=True))

    assert client.get("/admin/", headers=as_root).status_code == 200
    Account.objects.filter(user=the_user(BOSS)).update(token_version=1)
    assert client.get("/admin/", headers=as_root).status_code == 302
