"""A store watches beside the rows: it refuses, and revives nobody."""

import logging

import pytest
from django.core.cache import caches
from django.db import transaction
from django.test import override_settings

from authservice.core import directory, revocation
from authservice.core.models import SignIn
from authservice.session import ended
from tests.client import PASSWORD
from tests.contract.shapes import is_refusal
from tests.people import the_user
from tests.session import stores
from tests.session.conftest import redis_cache

pytestmark = pytest.mark.django_db(transaction=True)

REFUSED = (401, "INVALID_TOKEN")
AWAY = (503, "SERVICE_UNAVAILABLE")
ENDS = {
    "logout": lambda api, tokens: api.post("logout", token=tokens["access_token"]),
    "its own end": lambda api, tokens: api.request(
        "DELETE", f"sessions/{current(api, tokens)}", token=tokens["access_token"]
    ),
    "a replay": lambda api, tokens: replay(api, tokens["refresh_token"]),
    "a revocation": lambda api, tokens: revocation.of([the_user()]),
    "the page of staff": lambda api, tokens: revocation.one(SignIn.objects.get(), by=the_user()),
}


def current(api, tokens):
    found = api.get("sessions", token=tokens["access_token"]).data
    return next(session["id"] for session in found if session["current"])


def replay(api, token):
    for _ in range(2):
        api.post("refresh", refresh_token=token)


def me(api, tokens):
    return api.get("me", token=tokens["access_token"])


def refresh(api, tokens):
    return api.post("refresh", refresh_token=tokens["refresh_token"])


def forget(cache):
    """Empty the cache of whatever it may know of sessions."""
    cache.delete_many([ended.key_of(pk) for pk in SignIn.objects.values_list("pk", flat=True)])


@pytest.fixture
def no_leeway(configure):
    """A replay is theft, however soon it comes."""
    configure(REUSE_LEEWAY=0)


@pytest.mark.parametrize("deed", ENDS)
def test_what_ended_is_refused_with_either_store(api, no_leeway, each_store, deed):
    tokens = api.sign_up()

    ENDS[deed](api, tokens)

    assert me(api, tokens).error == REFUSED
    assert refresh(api, tokens).error == (401, "INVALID_REFRESH_TOKEN")


def test_others_go_on_with_either_store(api, each_store):
    tokens = [api.sign_up(), api.log_in()]

    ENDS["logout"](api, tokens[0])

    assert me(api, tokens[1]).status == 200


class TestCache:
    """The store "cache", on Redis: it names who ended, and never who lives."""

    @pytest.fixture
    def named(self, on_redis):
        """Which sessions the cache names."""

        def named():
            keys = {ended.key_of(pk): pk for pk in SignIn.objects.values_list("pk", flat=True)}
            return {keys[key] for key in on_redis.get_many(list(keys))}

        return named

    def test_nobody_is_named_who_lives(self, api, named):
        tokens = api.sign_up()
        me(api, tokens)
        refresh(api, tokens)

        assert named() == set()

    @pytest.mark.parametrize("deed", ENDS)
    def test_who_ended_is_named_before_the_answer(self, api, no_leeway, named, deed):
        tokens = api.sign_up()

        ENDS[deed](api, tokens)

        assert named() == {SignIn.objects.get().pk}

    def test_all_who_end_at_once_are_named_and_no_others(self, api, named):
        tokens = [api.sign_up(), api.log_in(), api.log_in()]

        api.request("DELETE", "sessions", token=tokens[1]["access_token"])

        assert named() == set(SignIn.objects.exclude(ended_at=None).values_list("pk", flat=True))
        assert len(named()) == 2

    def test_who_made_room_is_named(self, api, named, sessions):
        sessions(STORE="cache", CACHE="sessions", MAX_PER_USER=1)
        api.sign_up()
        oldest = SignIn.objects.get().pk

        api.log_in()

        assert named() == {oldest}

    def test_what_is_undone_is_not_named(self, api, named):
        tokens = api.sign_up()

        using = directory.database()
        with transaction.atomic(using=using):
            revocation.of([the_user()])
            transaction.set_rollback(True, using=using)

        assert named() == set()
        assert me(api, tokens).status == 200

    def test_who_is_named_is_refused_whatever_the_row_says(self, api, named, on_redis):
        tokens = api.sign_up()
        on_redis.set(ended.key_of(SignIn.objects.get().pk), 1)

        assert me(api, tokens).error == REFUSED
        assert refresh(api, tokens).error == (401, "INVALID_REFRESH_TOKEN")

    def test_who_is_named_is_in_no_list(self, api, on_redis):
        api.sign_up()
        oldest = SignIn.objects.get().pk
        tokens = api.log_in()
        on_redis.set(ended.key_of(oldest), 1)

        [session] = api.get("sessions", token=tokens["access_token"]).data

        assert session["current"]

    def test_a_cache_that_forgets_revives_nobody(self, api, on_redis):
        tokens = api.sign_up()
        ENDS["logout"](api, tokens)
        forget(on_redis)

        assert me(api, tokens).error == REFUSED
        assert refresh(api, tokens).error == (401, "INVALID_REFRESH_TOKEN")

    def test_a_cache_that_forgets_ends_nobody(self, api, on_redis):
        tokens = api.sign_up()
        forget(on_redis)

        assert me(api, tokens).status == 200

    def test_a_name_outlives_every_token_and_no_more(self, api, on_redis, configure):
        configure(ACCESS_TOKEN_TTL=600)
        ENDS["logout"](api, api.sign_up())
        client = on_redis._cache.get_client()

        left = client.ttl(on_redis.make_key(ended.key_of(SignIn.objects.get().pk)))

        assert 600 < left <= 900


@pytest.fixture
def away(settings, sessions):
    """`away()` cuts the store off: nothing listens where its Redis should be."""

    def cut():
        gone = override_settings(
            CACHES={**settings.CACHES, "sessions": redis_cache("redis://127.0.0.1:1")}
        )
        gone.enable()
        cuts.append(gone)
        sessions(STORE="cache", CACHE="sessions")

    cuts = []
    yield cut
    for gone in cuts:
        gone.disable()


class TestAway:
    """A store that cannot be asked lets nobody through."""

    def test_a_request_is_refused(self, api, away):
        tokens = api.sign_up()
        away()

        assert is_refusal(me(api, tokens), *AWAY)

    def test_a_refresh_is_refused_and_spends_nothing(self, api, away, sessions):
        tokens = api.sign_up()
        away()

        assert is_refusal(refresh(api, tokens), *AWAY)
        sessions(STORE="database")
        assert refresh(api, tokens).status == 200

    @pytest.mark.parametrize("path", ["login", "signup"])
    def test_nobody_comes_in(self, api, away, path):
        api.sign_up()
        away()
        email = {"login": "ann@example.com", "signup": "bob@example.com"}[path]

        answer = api.post(path, email=email, password=PASSWORD)

        assert is_refusal(answer, *AWAY)
        assert SignIn.objects.count() == 1

    def test_a_login_that_is_refused_so_ends_no_other(self, api, away, sessions, configure):
        tokens = api.sign_up()
        away()
        sessions(STORE="cache", CACHE="sessions", MAX_PER_USER=1)
        api.post("login", email="ann@example.com", password=PASSWORD)

        sessions(STORE="database")

        assert me(api, tokens).status == 200

    @pytest.mark.parametrize("path", ["sessions", "logout"])
    def test_nothing_is_ended(self, api, away, path):
        tokens = api.sign_up()
        away()
        method = {"sessions": "DELETE", "logout": "POST"}[path]

        assert is_refusal(api.request(method, path, token=tokens["access_token"]), *AWAY)
        assert SignIn.objects.get().ended_at is None

    def test_a_bad_token_is_refused_as_ever(self, api, away):
        tokens = api.sign_up()
        ENDS["logout"](api, tokens)
        away()

        assert me(api, tokens).error == REFUSED

    def test_whoever_ends_sessions_by_other_roads_is_not_hindered(self, api, away, sessions):
        tokens = api.sign_up()
        away()

        revocation.of([the_user()])

        sessions(STORE="database")
        assert me(api, tokens).error == REFUSED

    def test_operators_read_why_and_no_address_of_anybody(self, api, away, caplog):
        tokens = api.sign_up()
        away()
        with caplog.at_level(logging.ERROR, "authservice.session"):
            me(api, tokens)

        [record] = [r for r in caplog.records if r.name == "authservice.session"]
        assert "cannot be asked" in record.getMessage()
        assert tokens["access_token"] not in caplog.text


class TestOwn:
    """A host's own store, by its dotted path."""

    @pytest.fixture
    def own(self, sessions):
        stores.Register.told.clear()
        stores.Register.out.clear()
        return lambda name: sessions(STORE=f"tests.session.stores.{name}")

    def test_it_is_told_of_what_begins_and_ends(self, api, own):
        own("Register")
        tokens = [api.sign_up(), api.log_in(), api.log_in()]
        first, second, third = SignIn.objects.order_by("created_at").values_list("pk", flat=True)

        api.request("DELETE", f"sessions/{second}", token=tokens[0]["access_token"])
        ENDS["logout"](api, tokens[0])

        began = [("begin", pk) for pk in (first, second, third)]
        assert stores.Register.told == [*began, ("end", second), ("end", first)]

    def test_it_is_told_of_use_every_five_minutes(self, api, clock, own):
        own("Register")
        tokens = api.sign_up()
        stores.Register.told.clear()
        for _ in range(3):
            clock.forward(minutes=3)
            me(api, tokens)

        assert stores.Register.told == [("touch", SignIn.objects.get().pk)]

    def test_whom_it_does_not_know_is_refused(self, api, own):
        tokens = api.sign_up()
        own("Register")
        stores.Register.out.add(SignIn.objects.get().pk)

        assert me(api, tokens).error == REFUSED
        assert refresh(api, tokens).error == (401, "INVALID_REFRESH_TOKEN")

    def test_it_revives_nobody(self, api, own):
        own("Register")
        tokens = api.sign_up()
        SignIn.objects.update(ended_at=SignIn.objects.get().created_at)

        assert me(api, tokens).error == REFUSED

    def test_its_list_is_the_list(self, api, own):
        own("Register")
        api.sign_up()
        oldest = SignIn.objects.get().pk
        tokens = api.log_in()
        stores.Register.out.add(oldest)

        assert len(api.get("sessions", token=tokens["access_token"]).data) == 1
        answer = api.get(f"sessions/{oldest}", token=tokens["access_token"])
        assert answer.error == (404, "SESSION_NOT_FOUND")

    def test_whatever_it_fails_with_is_the_same_refusal(self, api, own):
        tokens = api.sign_up()
        own("Broken")

        assert is_refusal(me(api, tokens), *AWAY)
        assert is_refusal(refresh(api, tokens), *AWAY)

    def test_where_it_cannot_be_told_the_rows_say_so(self, api, clock, own):
        tokens = api.sign_up()
        own("Deaf")
        clock.forward(minutes=6)
        tokens = api.log_in()
        clock.forward(minutes=6)

        assert me(api, tokens).status == 200
        assert ENDS["logout"](api, tokens).status == 200
        assert me(api, tokens).error == REFUSED


def test_the_cache_is_the_one_that_the_settings_name(api, sessions, settings):
    elsewhere = {"BACKEND": "django.core.cache.backends.locmem.LocMemCache", "LOCATION": "x"}
    with override_settings(CACHES={**settings.CACHES, "elsewhere": elsewhere}):
        sessions(STORE="cache", CACHE="elsewhere")
        ENDS["logout"](api, api.sign_up())

        key = ended.key_of(SignIn.objects.get().pk)
        assert caches["elsewhere"].get(key)
        assert caches["default"].get(key) is None
