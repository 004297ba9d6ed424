"""Validators with `password_changed`, such as a history of passwords, see each new password."""

from datetime import UTC, datetime

import pytest
from django.conf import settings
from django.contrib.auth import get_user_model
from django.contrib.auth.hashers import check_password, make_password
from django.core.exceptions import ValidationError
from django.db import connection

from authservice.core.credentials.passwords import hash_new_password
from authservice.core.messages import kinds
from authservice.core.models import OneTimeToken, UnseenPassword
from authservice.kernel.secret import Secret
from tests.support import hashing
from tests.support.client import PASSWORD
from tests.support.flows import ANN, NEW, prove
from tests.support.people import has, make_user, the_user
from tests.support.statements import statements

pytestmark = pytest.mark.django_db

HISTORY = [{"NAME": f"{__name__}.History"}]
former = []  # (primary key, hash) of each password
in_transaction = []


class History:
    """No password may be used twice."""

    def validate(self, password, user=None):
        for pk, encoded in former:
            if user is not None and user.pk == pk and check_password(password, encoded):
                raise ValidationError("You have used this password before.")

    def password_changed(self, password, user=None):
        in_transaction.append(bool(connection.savepoint_ids))
        former.append((user.pk, make_password(password)))

    def get_help_text(self):
        return ""


@pytest.fixture(autouse=True)
def _history(settings):
    settings.AUTH_PASSWORD_VALIDATORS = HISTORY
    former.clear()
    in_transaction.clear()


def passwords():
    user = the_user()
    return [pk for pk, _ in former] == [user.pk] * len(former) and len(former)


def change(api, token, old, new):
    body = {"old_password": old, "new_password": new}
    return api.request("PUT", "change-password", body, token=token)


def test_old_password_is_refused_after_a_change(api):
    token = api.sign_up()["access_token"]

    assert change(api, token, PASSWORD, NEW).status == 200
    again = change(api, token, NEW, PASSWORD)

    assert again.error == (400, "INVALID_PASSWORD")
    assert "before" in again.data["message"]
    assert passwords() == 2
    assert not any(in_transaction)


def test_old_password_is_refused_at_a_reset_by_link(api, flows):
    api.sign_up()
    prove()

    assert flows.reset(flows.reset_token()).status == 200
    refused = flows.reset(flows.reset_token(), new_password=PASSWORD)

    assert refused.error == (400, "INVALID_PASSWORD")
    assert passwords() == 2


def test_refused_change_tells_no_validator(api):
    token = api.sign_up()["access_token"]

    change(api, token, "wrong plum tart", NEW)

    assert passwords() == 1


def test_better_hash_of_a_password_tells_no_validator(api, settings):
    make_user()
    former.clear()
    settings.PASSWORD_HASHERS = ["tests.support.hashing.PBKDF2", *settings.PASSWORD_HASHERS]
    before = the_user().password

    api.log_in()

    assert the_user().password != before
    assert former == []


def test_removed_password_tells_no_validator(api, flows):
    """The first proof of an address makes the password unusable."""
    api.sign_up()
    former.clear()

    token = flows.reset_token()
    assert flows.reset(token).status == 200

    assert passwords() == 1  # the new one only


def test_validator_that_fails_undoes_nothing(api, monkeypatch):
    token = api.sign_up()["access_token"]

    def fail(*_, **__):
        raise RuntimeError("the history is not available")

    monkeypatch.setattr(History, "password_changed", fail)

    assert change(api, token, PASSWORD, NEW).status == 200
    assert the_user().check_password(NEW)


def test_set_password_of_the_model_is_called_once_with_its_other_columns(api, monkeypatch):
    user = get_user_model()
    token = api.sign_up()["access_token"]
    stored = user.set_password
    calls = []

    def set_password(self, raw_password):
        calls.append(1)
        stored(self, raw_password)
        self.last_login = None

    monkeypatch.setattr(user, "set_password", set_password)
    with hashing.spied() as spy:
        assert change(api, token, PASSWORD, NEW).status == 200

    assert calls == [1]
    assert len(spy.made) == 4  # one check and one new hash, and the same by the history
    assert the_user().last_login is None
    assert the_user().check_password(NEW)
    assert passwords() == 2


@pytest.fixture
def hidden(api, post, configure):
    """A sign-up whose account a worker has created: the password itself was stored nowhere."""
    configure(CORE={"SIGNUP_ENUMERATION": "hide"})
    assert api.post("signup", email=ANN, password=PASSWORD).status == 201
    assert PASSWORD not in f"{list(OneTimeToken.objects.values())} {post.jobs}"
    post.outgoing(kinds.SIGNUP)
    assert former == []


@pytest.mark.usefixtures("hidden")
def test_password_of_a_hidden_signup_is_seen_at_the_first_login_with_it(api):
    api.post("login", email=ANN, password=NEW)
    assert former == []

    token = api.log_in()["access_token"]
    api.log_in()

    assert passwords() == 1
    assert change(api, token, PASSWORD, NEW).status == 200
    assert change(api, token, NEW, PASSWORD).error == (400, "INVALID_PASSWORD")


@pytest.mark.usefixtures("hidden")
def test_password_of_a_hidden_signup_is_seen_at_a_check_of_it_in_a_session(api):
    waiting = UnseenPassword.objects.get()
    token = api.log_in()["access_token"]
    former.clear()
    waiting.save(force_insert=True)

    assert change(api, token, PASSWORD, NEW).status == 200

    assert [check_password(PASSWORD, former[0][1]), passwords()] == [True, 2]


def test_refused_login_of_a_hidden_signup_costs_the_same_for_taken_and_free_address(
    api, post, configure
):
    """The validators hash, and their row is deleted: both would show that the account is new."""
    api.sign_up(ANN)
    prove()
    configure(CORE={"SIGNUP_ENUMERATION": "hide", "REQUIRE_EMAIL_VERIFICATION": True})
    for email in ("warm@example.com", "new@example.com", ANN):
        assert api.post("signup", email=email, password=NEW).status == 201
        post.outgoing(kinds.SIGNUP)
    former.clear()

    def cost(email):
        with hashing.spied() as spy:
            ran = statements(lambda: api.post("login", email=email, password=NEW))
        # Other packages may count wrong passwords in tables of their own.
        return len([sql for sql in ran if "axes_" not in sql]), spy.made

    cost("warm@example.com")

    assert cost("new@example.com") == cost(ANN)
    assert former == []
    prove("new@example.com")
    assert api.log_in("new@example.com", password=NEW)
    assert len(former) == 1


@pytest.mark.usefixtures("hidden")
def test_password_of_a_hidden_signup_is_seen_if_its_hash_is_upgraded_too(api, settings):
    settings.PASSWORD_HASHERS = ["tests.support.hashing.PBKDF2", *settings.PASSWORD_HASHERS]
    before = the_user().password

    api.log_in()

    assert the_user().password != before
    assert passwords() == 1


@pytest.mark.usefixtures("hidden")
def test_password_of_a_hidden_signup_that_was_replaced_is_never_seen(api, flows):
    assert flows.reset(flows.reset_token()).status == 200
    assert passwords() == 1  # the new one

    api.log_in(password=NEW)

    assert passwords() == 1


@pytest.mark.usefixtures("hidden")
def test_row_that_waits_for_the_login_has_no_data_of_the_signup(api):
    waiting = UnseenPassword.objects.all()
    assert waiting.exists()
    assert not any("sealed" in row.payload for row in OneTimeToken.objects.all())

    api.log_in()

    assert not waiting.exists()


@pytest.mark.skipif(not has("last_login"), reason="its users have no further column")
def test_columns_that_set_password_sets_survive_a_hidden_signup(api, post, configure, monkeypatch):
    user, moment = get_user_model(), datetime(2030, 1, 2, 3, 4, 5, 678901, tzinfo=UTC)
    stored = user.set_password

    def set_password(self, raw_password):
        stored(self, raw_password)
        self.last_login = moment if settings.USE_TZ else moment.replace(tzinfo=None)

    monkeypatch.setattr(user, "set_password", set_password)
    configure(CORE={"SIGNUP_ENUMERATION": "hide"})
    api.post("signup", email=ANN, password=PASSWORD)
    post.outgoing(kinds.SIGNUP)

    assert the_user().last_login.replace(tzinfo=UTC) == moment
    assert the_user().check_password(PASSWORD)


@pytest.mark.skipif(not has("first_name"), reason="its users have no field for a list")
def test_list_that_set_password_of_the_model_extends_is_stored(monkeypatch):
    user = get_user_model()
    stored = user.set_password
    ann = user(email="ann@example.com", first_name=["former hash"])

    def set_password(self, raw_password):
        stored(self, raw_password)
        self.first_name.append("newer hash")

    monkeypatch.setattr(user, "set_password", set_password)
    made = hash_new_password(Secret(NEW), ann)

    assert made.columns["first_name"] == ["former hash", "newer hash"]
    assert ann.first_name == ["former hash"]
    assert made.encoded not in repr(made)
