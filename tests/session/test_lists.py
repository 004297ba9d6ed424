"""A store that is away when the list is asked for shows nothing and ends nothing: 503."""

import pytest
from django.core.cache import caches

from authservice.core.models import Session
from tests.contract.shapes import is_refusal

pytestmark = pytest.mark.django_db
AWAY = (503, "SERVICE_UNAVAILABLE")


def ask(api, method, session):
    tokens = api.sign_up()
    path = f"sessions/{Session.objects.get().pk}" if session else "sessions"
    return api.request(method, path, token=tokens["access_token"])


@pytest.mark.parametrize(("method", "session"), [("GET", ""), ("GET", "one"), ("DELETE", "one")])
def test_a_store_of_the_hosts(robust, sessions, method, session):
    sessions(STORE="tests.session.stores.Listless")

    assert is_refusal(ask(robust, method, session), *AWAY)
    assert Session.objects.get().ended_at is None


def test_a_cache_that_goes_away_between_the_check_and_the_list(robust, on_redis, monkeypatch):
    def gone(keys):
        raise ConnectionError

    monkeypatch.setattr(caches["sessions"], "get_many", gone)

    assert is_refusal(ask(robust, "GET", ""), *AWAY)
