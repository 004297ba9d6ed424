"""The requests and responses of docs/requests.rst are those of the service."""

import json
from urllib.parse import parse_qsl

import pytest
from django.test import Client
from django.test.client import RequestFactory

from tests.audit import exchanges
from tests.audit.inside.test_action_entries import ROUTES
from tests.audit.world import CASES
from tests.support.client import BASE

pytestmark = pytest.mark.django_db
FIRST = {case.route: case for case in reversed(CASES) if not case.code}


@pytest.fixture
def sent(monkeypatch):
    """The requests of a test and their responses."""
    seen = []

    def generic(client, method, path, data="", content_type="", **options):
        response = RequestFactory.generic(client, method, path, data, content_type, **options)
        if response.streaming:
            # A stream can be read once only, and the case reads it too.
            exchanges.keep_content(response)
        seen.append((method, path, data, content_type, response))
        return response

    monkeypatch.setattr(Client, "generic", generic, raising=False)
    return seen


def body_of(data, content_type):
    if not data:
        return None
    text = data.decode() if isinstance(data, bytes) else data
    return json.loads(text) if "json" in content_type else dict(parse_qsl(text))


@pytest.mark.parametrize("route", ROUTES)
def test_route_answers_as_on_the_page(world, sent, route):
    act = FIRST[route].prepare(world)
    sent.clear()
    act()
    [(method, path, data, content_type, response)] = sent[-1:]
    assert path.startswith(BASE)
    seen = exchanges.exchange(method, path, body_of(data, content_type), response)

    if exchanges.renewed():
        known = {**exchanges.stored(), route: seen}
        known = {name: known[name] for name in ROUTES if name in known}
        exchanges.STORED.write_text(json.dumps(known, indent=1, ensure_ascii=False) + "\n")
    assert exchanges.stored().get(route) == seen, "Run `python -m tests.audit.exchanges`."


def test_page_has_every_route():
    assert list(exchanges.stored()) == list(ROUTES)
    assert exchanges.PAGE.read_text() == exchanges.page(exchanges.stored())
