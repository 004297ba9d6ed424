"""What `authservice.testing` promises to hosts."""

import json
import re

import pytest
from django.apps import apps
from django.contrib.auth import get_user_model
from django.test import Client as DjangoClient
from jwt import decode

from authservice.testing import (
    PASSWORD,
    ApiClient,
    Clock,
    UserFactory,
    csrf_headers,
    mailbox,
)
from tests.csrf.installed import installed
from tests.hosts.runs import python
from tests.support.mounted import mounted

pytestmark = pytest.mark.django_db


@pytest.fixture
def client():
    return ApiClient()


def test_a_made_user_logs_in_with_the_password(client):
    user = UserFactory()

    answer = client.post("login", email=user.email, password=PASSWORD)

    assert answer.status == 200


def test_a_made_user_is_of_the_hosts_model():
    assert isinstance(UserFactory(), get_user_model())


@pytest.mark.parametrize("verified", [True, False])
def test_a_made_user_is_verified_as_asked(client, verified):
    user = UserFactory(verified=verified)

    assert client.log_in(user).get("me").data["email_verified"] is verified


@pytest.mark.parametrize("verified", [True, False])
def test_a_made_number_is_verified_as_asked(client, verified):
    user = UserFactory(phone_number="+4930123456", phone_verified=verified)

    me = client.log_in(user).get("me").data

    assert (me["phone_number"], me["phone_number_verified"]) == ("+4930123456", verified)


def test_a_signed_in_client_is_the_user(client):
    user = UserFactory()

    assert client.log_in(user).get("me").data["id"] == str(user.pk)


def test_signing_in_goes_through_the_door(client):
    user = UserFactory(is_active=False)

    with pytest.raises(Exception, match="not active"):
        client.log_in(user)


def test_mails_of_the_mailbox_have_subject_and_body(client, django_capture_on_commit_callbacks):
    user = UserFactory()
    with mounted("authservice.notification"), mailbox() as box:
        with django_capture_on_commit_callbacks(execute=True):
            client.post("forgot-password", email=user.email)

        mail = box.last_mail
        assert mail.to == [user.email]
        assert "password" in mail.subject
        assert box.last_token in mail.body
        assert box.last_token in mail.alternatives[0][0]
        assert len(box.mails) == 1


@pytest.mark.parametrize("name", ["last", "last_link", "last_token", "last_code", "last_mail"])
def test_empty_mailbox_says_that_jobs_are_enqueued_at_commit(client, name):
    user = UserFactory()
    with mounted("authservice.notification"), mailbox() as box:
        client.post("forgot-password", email=user.email)

        with pytest.raises(AssertionError, match=r"wrap the request in captureOnCommitCallbacks"):
            getattr(box, name)


def test_mailbox_without_a_code_says_so(client, django_capture_on_commit_callbacks):
    user = UserFactory()
    with mailbox() as box, django_capture_on_commit_callbacks(execute=True):
        client.post("forgot-password", email=user.email)

    with pytest.raises(AssertionError, match=r"^No such message was sent\.$"):
        _ = box.last_code


def test_client_refuses_a_path_that_begins_with_a_slash(client):
    with pytest.raises(ValueError, match="'/orders' begins with a slash"):
        client.get("/orders")


IMPORTED = """
import json, sys
import django
django.setup()
def imported():
    try:
        import authservice.testing
    except ImportError as error:
        return str(error)
found = {}
for name in ("factory", "time_machine"):
    sys.modules[name] = None
    found[name] = imported()
    del sys.modules[name]
found[""] = imported()
found["csrf"] = [name for name in sys.modules if name.startswith("authservice.csrf")]
print(json.dumps(found))
"""


@pytest.fixture(scope="module")
def imported():
    """The errors of an import without each package and with all of them, and what was imported."""
    run = python("-c", IMPORTED, DJANGO_SETTINGS_MODULE="tests.settings")
    assert run.returncode == 0, run.stdout
    return json.loads(run.stdout.splitlines()[-1])


@pytest.mark.parametrize("name", ["factory", "time_machine"])
def test_missing_package_names_the_extra(imported, name):
    assert re.search(rf"requires '{name}[.\w]*': install authservice\[testing\]\.", imported[name])


def test_the_last_link_of_the_mailbox_resets_the_password(
    client, django_capture_on_commit_callbacks
):
    user = UserFactory()
    with mailbox() as box, django_capture_on_commit_callbacks(execute=True):
        client.post("forgot-password", email=user.email)

    answer = client.post(
        "reset-password", token=box.last_token, email=user.email, new_password="another plum 43"
    )

    assert answer.status == 200


def test_the_last_code_of_the_mailbox_verifies_the_number(
    client, django_capture_on_commit_callbacks
):
    UserFactory(phone_number="+4930123456", phone_verified=False)
    with mailbox() as box, django_capture_on_commit_callbacks(execute=True):
        client.post("send-verification-phone", phone="+4930123456")

    answer = client.post("verify-phone", phone="+4930123456", code=box.last_code)

    assert answer.status == 200


def test_after_the_mailbox_nothing_is_sent(client, django_capture_on_commit_callbacks):
    user = UserFactory()
    with mailbox() as box:
        pass
    with django_capture_on_commit_callbacks(execute=True):
        client.post("forgot-password", email=user.email)

    assert box.jobs == []


def test_a_token_expires_when_the_clock_moves_past_its_life(client):
    user = UserFactory()
    with Clock() as clock:
        client.log_in(user)
        clock.advance(minutes=15)

        assert client.get("me").code == "TOKEN_EXPIRED"


@pytest.mark.skipif(not apps.is_installed("authservice.twofactor"), reason="no second factors")
def test_log_in_says_that_a_second_factor_is_missing(client, configure):
    configure(TWOFACTOR={"REQUIRED": "super_admins"})
    user = UserFactory(is_super_admin=True)

    with pytest.raises(AssertionError, match=r"2fa_setup.*second_factor=True"):
        client.log_in(user)

    client.log_in(user, second_factor=True)
    claims = decode(client.tokens.access_token.reveal(), options={"verify_signature": False})
    assert "mfa" in claims["amr"]
    assert client.get("me").status == 200


class TestCsrf:
    """With the csrf module, the tests of a host need no change."""

    @pytest.fixture(autouse=True)
    def _installed(self):
        with installed():
            yield

    def test_the_client_sends_the_token_by_itself(self, client):
        user = UserFactory()

        assert client.post("login", email=user.email, password=PASSWORD).status == 200

    def test_it_sends_the_token_of_its_own_sign_in_by_cookies(self, client, configure):
        configure(COOKIES={"ENABLED": True})
        user = UserFactory()
        client.post("login", email=user.email, password=PASSWORD)

        assert client.put("profile", name="Ann").data["name"] == "Ann"

    def test_a_django_client_gets_the_header_for_the_hosts_own_views(self, settings):
        settings.ROOT_URLCONF = "tests.csrf.urls"
        middleware = "authservice.csrf.middleware.CsrfMiddleware"
        settings.MIDDLEWARE = [*settings.MIDDLEWARE, middleware]
        client = DjangoClient()

        assert client.post("/form").status_code == 403
        assert client.post("/form", headers=csrf_headers(client)).status_code == 200


def test_without_the_csrf_module_there_is_no_header():
    assert csrf_headers(DjangoClient()) == {}


def test_without_the_csrf_module_none_of_it_is_imported(imported):
    assert (imported[""], imported["csrf"]) == (None, [])
