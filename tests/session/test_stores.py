"""A store is checked in addition to the rows: it can refuse sessions, but not reactivate them."""

import pytest
from django.core.cache import caches
from django.core.cache.backends.locmem import LocMemCache
from django.db import transaction
from django.test import override_settings

from authservice.core.models import Session
from authservice.core.sessions import revocation
from authservice.kernel import databases
from authservice.session import stores
from tests.session.session_requests import ENDS, REFUSED, me, refresh
from tests.support.people import the_user

pytestmark = pytest.mark.django_db(transaction=True)


def clear_sessions(cache):
    """Delete everything that the cache stores about sessions."""
    cache.delete_many([stores.key_of(pk) for pk in Session.objects.values_list("pk", flat=True)])


@pytest.fixture
def no_leeway(configure):
    """Every reuse of a refresh token counts as theft."""
    configure(REUSE_LEEWAY=0)


@pytest.mark.parametrize("end", ENDS)
def test_ended_session_is_refused_with_each_store(api, no_leeway, each_store, end):
    tokens = api.sign_up()

    ENDS[end](api, tokens)

    assert me(api, tokens).error == REFUSED
    assert refresh(api, tokens).error == (401, "INVALID_REFRESH_TOKEN")


def test_other_sessions_stay_active_with_each_store(api, each_store):
    tokens = [api.sign_up(), api.log_in()]

    ENDS["logout"](api, tokens[0])

    assert me(api, tokens[1]).status == 200


class TestCache:
    """The store "cache" on Redis contains ended sessions, and never active ones."""

    @pytest.fixture
    def cached(self, on_redis):
        """The sessions that the cache contains."""

        def cached():
            keys = {stores.key_of(pk): pk for pk in Session.objects.values_list("pk", flat=True)}
            return {keys[key] for key in on_redis.get_many(list(keys))}

        return cached

    def test_cache_store_does_not_contain_active_sessions(self, api, cached):
        tokens = api.sign_up()
        me(api, tokens)
        refresh(api, tokens)

        assert cached() == set()

    @pytest.mark.parametrize("end", ENDS)
    def test_cache_store_contains_an_ended_session_before_the_response(
        self, api, no_leeway, cached, end
    ):
        tokens = api.sign_up()

        ENDS[end](api, tokens)

        assert cached() == {Session.objects.get().pk}

    def test_cache_store_contains_all_sessions_ended_together_and_no_others(self, api, cached):
        tokens = [api.sign_up(), api.log_in(), api.log_in()]

        api.request("DELETE", "sessions", token=tokens[1]["access_token"])

        assert cached() == set(Session.objects.exclude(ended_at=None).values_list("pk", flat=True))
        assert len(cached()) == 2

    def test_cache_store_contains_a_session_ended_by_the_limit(self, api, cached, sessions):
        sessions(STORE="cache", CACHE="sessions", MAX_PER_USER=1)
        api.sign_up()
        oldest = Session.objects.get().pk

        api.log_in()

        assert cached() == {oldest}

    def test_cache_store_does_not_contain_a_revocation_rolled_back(self, api, cached):
        tokens = api.sign_up()

        using = databases.primary()
        with transaction.atomic(using=using):
            revocation.revoke_users([the_user()])
            transaction.set_rollback(True, using=using)

        assert cached() == set()
        assert me(api, tokens).status == 200

    def test_cache_store_refuses_a_session_whose_row_is_active(self, api, cached, on_redis):
        tokens = api.sign_up()
        on_redis.set(stores.key_of(Session.objects.get().pk), 1)

        assert me(api, tokens).error == REFUSED
        assert refresh(api, tokens).error == (401, "INVALID_REFRESH_TOKEN")

    def test_cache_store_hides_its_sessions_from_the_list(self, api, on_redis):
        api.sign_up()
        oldest = Session.objects.get().pk
        tokens = api.log_in()
        on_redis.set(stores.key_of(oldest), 1)

        [session] = api.get("sessions", token=tokens["access_token"]).data

        assert session["current"]

    def test_cache_store_that_loses_entries_reactivates_no_session(self, api, on_redis):
        tokens = api.sign_up()
        ENDS["logout"](api, tokens)
        clear_sessions(on_redis)

        assert me(api, tokens).error == REFUSED
        assert refresh(api, tokens).error == (401, "INVALID_REFRESH_TOKEN")

    def test_cache_store_that_loses_entries_ends_no_session(self, api, on_redis):
        tokens = api.sign_up()
        clear_sessions(on_redis)

        assert me(api, tokens).status == 200

    def test_cache_store_entry_expires_shortly_after_the_last_token(self, api, on_redis, configure):
        configure(ACCESS_TOKEN_TTL=600)
        ENDS["logout"](api, api.sign_up())
        client = on_redis._cache.get_client()

        left = client.ttl(on_redis.make_key(stores.key_of(Session.objects.get().pk)))

        assert 600 < left <= 900


class PartialCache(LocMemCache):
    """A cache that stores only some keys, as if one of several servers were unavailable."""

    def set_many(self, data, timeout=None, version=None):
        super().set_many(dict(list(data.items())[1:]), timeout, version)
        return list(data)[:1]


def test_cache_store_that_stores_only_some_ended_sessions_is_logged(
    api, sessions, settings, caplog
):
    half = {"BACKEND": f"{__name__}.PartialCache", "LOCATION": "half"}
    with override_settings(CACHES={**settings.CACHES, "half": half}):
        sessions(STORE="cache", CACHE="half")
        tokens = [api.sign_up(), api.log_in(), api.log_in()]
        with caplog.at_level("ERROR"):
            api.request("DELETE", "sessions", token=tokens[0]["access_token"])

    assert "did not store 1 ended sessions" in caplog.text
    assert me(api, tokens[1]).error == me(api, tokens[2]).error == REFUSED


def test_cache_store_uses_the_cache_of_the_settings(api, sessions, settings):
    other = {"BACKEND": "django.core.cache.backends.locmem.LocMemCache", "LOCATION": "x"}
    with override_settings(CACHES={**settings.CACHES, "elsewhere": other}):
        sessions(STORE="cache", CACHE="elsewhere")
        ENDS["logout"](api, api.sign_up())

        key = stores.key_of(Session.objects.get().pk)
        assert caches["elsewhere"].get(key)
        assert caches["default"].get(key) is None
