"""`last_login` is written as Django writes it, whoever listens and however a model saves."""

import pytest
from django.contrib.auth import get_user_model, user_logged_in
from django.contrib.auth.models import update_last_login
from django.db import DatabaseError, connection
from django.db.models.signals import post_save, pre_save
from django.test import RequestFactory

from authservice.core.login import last_login
from authservice.kernel.sql import joins
from tests.people import the_user
from tests.recovery.statements import statements

pytestmark = pytest.mark.django_db


@pytest.fixture
def ann(api):
    api.sign_up()
    return the_user()


@pytest.fixture
def saves():
    """What receivers of both signals of the user's model are told."""
    told = []

    def before(sender, **what):
        told.append(("before", sender, what))

    def after(sender, **what):
        told.append(("after", sender, what))

    pre_save.connect(before, sender=get_user_model())
    post_save.connect(after, sender=get_user_model())
    yield told
    pre_save.disconnect(before, sender=get_user_model())
    post_save.disconnect(after, sender=get_user_model())


def log_in(user):
    user_logged_in.send(sender=type(user), request=RequestFactory().post("/"), user=user)


def told_by(receiver, user, saves):
    saves.clear()
    receiver(sender=type(user), user=user)
    return [
        (when, sender, {name: what[name] for name in what if name != "signal"})
        for when, sender, what in saves
    ]


def test_it_is_one_statement_and_the_row_has_it(ann):
    before = ann.last_login

    [sql] = [sql for sql in statements(lambda: log_in(ann)) if sql.startswith("UPDATE")]

    assert "last_login" in sql
    assert "password" not in sql
    assert ann.last_login > before
    assert the_user().last_login == ann.last_login


def test_receivers_are_told_what_django_tells_them(ann, saves):
    assert told_by(last_login.write, ann, saves) == told_by(update_last_login, ann, saves)
    assert len(saves) == 2


def test_what_a_receiver_changes_is_what_is_written(ann):
    def earlier(sender, instance, **_):
        instance.last_login = instance.last_login.replace(year=2001)

    pre_save.connect(earlier, sender=type(ann))
    try:
        log_in(ann)
    finally:
        pre_save.disconnect(earlier, sender=type(ann))

    assert the_user().last_login.year == 2001


@pytest.mark.parametrize("step", ["save", "save_base", "_save_table", "_do_update"])
def test_a_model_that_saves_in_its_own_way_does(ann, monkeypatch, step):
    saved, original = [], getattr(type(ann), step)

    def own(self, *given, **more):
        saved.append(step)
        return original(self, *given, **more)

    monkeypatch.setattr(type(ann), step, own)
    last_login._saves_as_django.cache_clear()
    log_in(ann)
    last_login._saves_as_django.cache_clear()

    assert saved


def test_password_set_but_not_saved_is_left_to_django(ann):
    ann.set_password("another plum tart 42")

    log_in(ann)

    # Django's own `save` notifies the validators of the change, and drops the text.
    assert ann._password is None


def test_a_row_that_is_gone_is_told_as_django_tells_it(ann):
    type(ann)._base_manager.filter(pk=ann.pk).delete()

    with pytest.raises(DatabaseError):
        last_login.write(type(ann), ann)


def test_who_disconnects_djangos_receiver_disconnects_it(ann):
    before = ann.last_login
    assert user_logged_in.disconnect(dispatch_uid="update_last_login")
    try:
        log_in(ann)
    finally:
        user_logged_in.connect(last_login.write, dispatch_uid="update_last_login")

    assert ann.last_login == before


joining = pytest.mark.skipif(
    not joins(connection), reason="this database changes one table in a statement"
)


@joining
def test_it_can_be_left_to_another_statement(ann, unheard):
    def put_off():
        with last_login.defer(ann) as left:
            log_in(ann)
            assert [bound.params[-1] for bound in left] == [ann.pk]

    before = ann.last_login

    assert statements(put_off) == []
    assert ann.last_login > before


@joining
def test_receivers_are_told_as_much_where_it_is_put_off(ann, unheard, saves):
    def put_off(sender, user):
        with last_login.defer(user):
            log_in(user)
            assert [when for when, _, _ in saves] == ["before"]

    assert told_by(put_off, ann, saves) == told_by(update_last_login, ann, saves)


@joining
def test_nobody_is_told_that_it_was_saved_if_it_was_not(ann, unheard, saves):
    def fail():
        log_in(ann)
        raise LookupError

    with pytest.raises(LookupError), last_login.defer(ann):
        fail()

    assert [when for when, _, _ in saves] == ["before"]


def test_whoever_else_hears_of_a_login_finds_it_written(ann, unheard):
    found = []

    def look(user, **_):
        found.append(the_user().last_login)

    user_logged_in.connect(look)
    try:
        with last_login.defer(ann) as left:
            log_in(ann)
    finally:
        user_logged_in.disconnect(look)

    assert left == []
    assert found == [ann.last_login]


def test_the_next_one_is_written_at_once(ann, unheard):
    with last_login.defer(ann):
        log_in(ann)
    before = ann.last_login

    log_in(ann)

    assert the_user().last_login == ann.last_login > before


def test_it_is_written_with_the_sign_in(api, ann, unheard):
    before = the_user().last_login

    asked = statements(api.log_in)

    assert sum("last_login" in sql and "UPDATE" in sql for sql in asked) == 1
    assert the_user().last_login > before
