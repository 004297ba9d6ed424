"""A store watches beside the rows: it refuses, and revives nobody."""

import pytest
from django.core.cache import caches
from django.core.cache.backends.locmem import LocMemCache
from django.db import transaction
from django.test import override_settings

from authservice.core.models import Session
from authservice.core.sessions import revocation
from authservice.kernel import databases
from authservice.session import revocation_cache
from tests.people import the_user
from tests.session.asking import ENDS, REFUSED, me, refresh

pytestmark = pytest.mark.django_db(transaction=True)


def forget(cache):
    """Empty the cache of whatever it may know of sessions."""
    cache.delete_many(
        [revocation_cache.key_of(pk) for pk in Session.objects.values_list("pk", flat=True)]
    )


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
            keys = {
                revocation_cache.key_of(pk): pk
                for pk in Session.objects.values_list("pk", flat=True)
            }
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

        assert named() == {Session.objects.get().pk}

    def test_all_who_end_at_once_are_named_and_no_others(self, api, named):
        tokens = [api.sign_up(), api.log_in(), api.log_in()]

        api.request("DELETE", "sessions", token=tokens[1]["access_token"])

        assert named() == set(Session.objects.exclude(ended_at=None).values_list("pk", flat=True))
        assert len(named()) == 2

    def test_who_made_room_is_named(self, api, named, sessions):
        sessions(STORE="cache", CACHE="sessions", MAX_PER_USER=1)
        api.sign_up()
        oldest = Session.objects.get().pk

        api.log_in()

        assert named() == {oldest}

    def test_what_is_undone_is_not_named(self, api, named):
        tokens = api.sign_up()

        using = databases.primary()
        with transaction.atomic(using=using):
            revocation.revoke_users([the_user()])
            transaction.set_rollback(True, using=using)

        assert named() == set()
        assert me(api, tokens).status == 200

    def test_who_is_named_is_refused_whatever_the_row_says(self, api, named, on_redis):
        tokens = api.sign_up()
        on_redis.set(revocation_cache.key_of(Session.objects.get().pk), 1)

        assert me(api, tokens).error == REFUSED
        assert refresh(api, tokens).error == (401, "INVALID_REFRESH_TOKEN")

    def test_who_is_named_is_in_no_list(self, api, on_redis):
        api.sign_up()
        oldest = Session.objects.get().pk
        tokens = api.log_in()
        on_redis.set(revocation_cache.key_of(oldest), 1)

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

        left = client.ttl(on_redis.make_key(revocation_cache.key_of(Session.objects.get().pk)))

        assert 600 < left <= 900


class Half(LocMemCache):
    """A cache that stores only some keys, as if one of several servers were not available."""

    def set_many(self, data, timeout=None, version=None):
        super().set_many(dict(list(data.items())[1:]), timeout, version)
        return list(data)[:1]


def test_a_cache_that_takes_only_some_ended_sessions_is_logged(api, sessions, settings, caplog):
    half = {"BACKEND": f"{__name__}.Half", "LOCATION": "half"}
    with override_settings(CACHES={**settings.CACHES, "half": half}):
        sessions(STORE="cache", CACHE="half")
        tokens = [api.sign_up(), api.log_in(), api.log_in()]
        with caplog.at_level("ERROR"):
            api.request("DELETE", "sessions", token=tokens[0]["access_token"])

    assert "did not store 1 ended sessions" in caplog.text
    assert me(api, tokens[1]).error == me(api, tokens[2]).error == REFUSED


def test_the_cache_is_the_one_that_the_settings_name(api, sessions, settings):
    elsewhere = {"BACKEND": "django.core.cache.backends.locmem.LocMemCache", "LOCATION": "x"}
    with override_settings(CACHES={**settings.CACHES, "elsewhere": elsewhere}):
        sessions(STORE="cache", CACHE="elsewhere")
        ENDS["logout"](api, api.sign_up())

        key = revocation_cache.key_of(Session.objects.get().pk)
        assert caches["elsewhere"].get(key)
        assert caches["default"].get(key) is None
