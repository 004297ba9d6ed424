"""If the store fails for the list of sessions, the request is refused with 503 and ends nothing."""

import pytest
from django.core.cache import caches

from authservice.core.models import Session
from tests.contract.shapes import is_refusal

pytestmark = pytest.mark.django_db
UNAVAILABLE = (503, "SERVICE_UNAVAILABLE")


def send(api, method, session):
    tokens = api.sign_up()
    path = f"sessions/{Session.objects.get().pk}" if session else "sessions"
    return api.request(method, path, token=tokens["access_token"])


@pytest.mark.parametrize(("method", "session"), [("GET", ""), ("GET", "one"), ("DELETE", "one")])
def test_host_store_that_fails_for_the_list_is_503_and_ends_nothing(
    robust, sessions, method, session
):
    sessions(STORE="tests.session.stores.BrokenList")

    assert is_refusal(send(robust, method, session), *UNAVAILABLE)
    assert Session.objects.get().ended_at is None


def test_cache_store_that_fails_between_check_and_list_is_503(robust, on_redis, monkeypatch):
    def fail(keys):
        raise ConnectionError

    monkeypatch.setattr(caches["sessions"], "get_many", fail)

    assert is_refusal(send(robust, "GET", ""), *UNAVAILABLE)
