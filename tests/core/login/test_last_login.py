"""`last_login` is written as Django writes it, for any receivers and any way a model saves."""

from uuid import uuid4

import pytest
from django.contrib.auth import get_user_model, user_logged_in
from django.contrib.auth.models import update_last_login
from django.db import DatabaseError, IntegrityError, connection, transaction
from django.db.models.signals import post_save, pre_save
from django.test import RequestFactory

from authservice.core import errors
from authservice.core.login import host_hooks
from authservice.core.models import Session
from authservice.core.sessions import sessions
from authservice.core.users import lookup
from authservice.kernel.client import Client
from tests.support.people import the_user
from tests.support.statements import statements

pytestmark = pytest.mark.django_db


@pytest.fixture
def ann(api):
    api.sign_up()
    return the_user()


@pytest.fixture
def saves():
    """The arguments that receivers of both save signals of the user model get."""
    received = []

    def before(sender, **arguments):
        received.append(("before", sender, arguments))

    def after(sender, **arguments):
        received.append(("after", sender, arguments))

    pre_save.connect(before, sender=get_user_model())
    post_save.connect(after, sender=get_user_model())
    yield received
    pre_save.disconnect(before, sender=get_user_model())
    post_save.disconnect(after, sender=get_user_model())


def log_in(user):
    user_logged_in.send(sender=type(user), request=RequestFactory().post("/"), user=user)


def signals_of(receiver, user, saves):
    saves.clear()
    receiver(sender=type(user), user=user)
    return [
        (when, sender, {name: arguments[name] for name in arguments if name != "signal"})
        for when, sender, arguments in saves
    ]


def test_last_login_is_written_in_one_statement(ann):
    before = ann.last_login

    [sql] = [sql for sql in statements(lambda: log_in(ann)) if sql.startswith("UPDATE")]

    assert "last_login" in sql
    assert "password" not in sql
    assert ann.last_login > before
    assert the_user().last_login == ann.last_login


def test_last_login_sends_receivers_the_same_arguments_as_django(ann, saves):
    assert signals_of(host_hooks.write_last_login, ann, saves) == signals_of(
        update_last_login, ann, saves
    )
    assert len(saves) == 2


def test_last_login_changed_by_a_receiver_is_written(ann):
    def earlier(sender, instance, **_):
        instance.last_login = instance.last_login.replace(year=2001)

    pre_save.connect(earlier, sender=type(ann))
    try:
        log_in(ann)
    finally:
        pre_save.disconnect(earlier, sender=type(ann))

    assert the_user().last_login.year == 2001


@pytest.mark.parametrize("step", ["save", "save_base", "_save_table", "_do_update"])
def test_last_login_of_a_model_with_its_own_save_methods_calls_them(ann, monkeypatch, step):
    saved, original = [], getattr(type(ann), step)

    def own(self, *given, **more):
        saved.append(step)
        return original(self, *given, **more)

    monkeypatch.setattr(type(ann), step, own)
    host_hooks._saves_as_django.cache_clear()
    log_in(ann)
    host_hooks._saves_as_django.cache_clear()

    assert saved


def test_last_login_of_a_user_with_an_unsaved_password_is_saved_by_django(ann):
    ann.set_password("another plum tart 42")

    log_in(ann)

    # Django's own `save` notifies the validators of the change, and discards the plain text.
    assert ann._password is None


def test_last_login_of_a_deleted_row_raises_the_error_of_django(ann):
    type(ann)._base_manager.filter(pk=ann.pk).delete()

    with pytest.raises(DatabaseError):
        host_hooks.write_last_login(type(ann), ann)


def test_last_login_is_not_written_if_djangos_receiver_is_disconnected(ann):
    before = ann.last_login
    assert user_logged_in.disconnect(dispatch_uid="update_last_login")
    try:
        log_in(ann)
    finally:
        user_logged_in.connect(host_hooks.write_last_login, dispatch_uid="update_last_login")

    assert ann.last_login == before


@pytest.fixture
def following(ann):
    """A statement that follows `last_login`: it inserts a session of the user."""
    session = sessions.begin(lookup.get_person(ann), Client(), amr="otp", device_id=uuid4())
    return sessions.insertion(session)


def test_last_login_and_the_statements_that_follow_it_are_seen_by_later_receivers(ann, following):
    found = []

    def look(user, **_):
        found.append((the_user().last_login, Session.objects.filter(amr="otp").count()))

    user_logged_in.connect(look)
    try:
        with host_hooks.followed_by(ann, following):
            log_in(ann)
    finally:
        user_logged_in.disconnect(look)

    assert found == [(ann.last_login, 1)]


def test_last_login_with_statements_that_follow_sends_the_same_signals(ann, following, saves):
    def log_in_with_others(sender, user):
        with host_hooks.followed_by(user, following):
            log_in(user)

    assert signals_of(log_in_with_others, ann, saves) == signals_of(update_last_login, ann, saves)


def test_statements_that_follow_last_login_do_not_run_if_a_receiver_raises(ann, following):
    def refuse(**_):
        raise LookupError

    pre_save.connect(refuse, sender=type(ann))
    try:
        with pytest.raises(LookupError), host_hooks.followed_by(ann, following):
            log_in(ann)
    finally:
        pre_save.disconnect(refuse, sender=type(ann))

    assert not Session.objects.filter(amr="otp").exists()


@pytest.mark.parametrize("connected", [True, False], ids=["with the receiver", "without"])
def test_refusal_of_our_own_table_is_not_reported_as_one_of_the_project(
    ann, following, no_login_receivers, connected
):
    following.run()
    if not connected:
        user_logged_in.disconnect(dispatch_uid="update_last_login")

    with (
        pytest.raises(IntegrityError),
        transaction.atomic(),
        host_hooks.followed_by(ann, following),
    ):
        log_in(ann)


def test_refusal_by_the_project_is_a_conflict(ann, following):
    def refuse(**_):
        raise IntegrityError("a row of the project")

    user_logged_in.connect(refuse)
    try:
        with (
            pytest.raises(errors.Conflict),
            transaction.atomic(),
            host_hooks.followed_by(ann, following),
        ):
            log_in(ann)
    finally:
        user_logged_in.disconnect(refuse)


def test_last_login_after_a_login_runs_nothing_else(ann, following, no_login_receivers):
    with host_hooks.followed_by(ann, following):
        log_in(ann)

    assert len(statements(lambda: log_in(ann))) == 1


def test_login_without_djangos_receiver_locks_the_user_before_the_account(api, ann):
    """Two requests that lock both rows in opposite orders would deadlock."""
    assert user_logged_in.disconnect(dispatch_uid="update_last_login")
    try:
        texts = statements(api.log_in)
    finally:
        user_logged_in.connect(host_hooks.write_last_login, dispatch_uid="update_last_login")

    user = connection.ops.quote_name(type(ann)._meta.db_table)
    locks = [place for place, text in enumerate(texts) if text.startswith(f"SELECT {user}")]
    writes = [place for place, text in enumerate(texts) if "device_ids" in text and "SET" in text]
    assert locks[-1] < writes[0]
    assert Session.objects.count() == 2


def test_last_login_is_written_once_by_a_login(api, ann):
    before = the_user().last_login

    asked = statements(api.log_in)

    assert sum("last_login" in sql and "UPDATE" in sql for sql in asked) == 1
    assert the_user().last_login > before
