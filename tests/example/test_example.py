"""What the example project makes of its environment variables, and does before it serves."""

import json

import pytest

from tests.hosts.runs import python

URLS = """
import json
from example_project import settings
mail = getattr(settings, "MAILERS", {}).get("default", vars(settings).get("EMAIL_BACKEND"))
print(json.dumps([settings.DATABASES, settings.CACHES, mail], default=str))
"""
STARTED = """
import gc, json, sys
from example_project import {server}
print(json.dumps([gc.get_freeze_count() > 50_000, "example_project.urls" in sys.modules,
    "authservice.core.views" in sys.modules]))
"""


def said(script, **variables):
    run = python("-c", script, **variables)
    assert run.returncode == 0, run.stdout
    return json.loads(run.stdout.splitlines()[-1])


def test_an_empty_url_is_as_good_as_none():
    databases, caches, mail = said(URLS, DATABASE_URL="", CACHE_URL="", EMAIL_URL="")

    assert databases["default"]["NAME"].endswith("example_project/db.sqlite3")
    assert caches["default"]["BACKEND"].endswith("LocMemCache")
    assert "console.EmailBackend" in str(mail)


@pytest.mark.parametrize("server", ["wsgi", "asgi"])
def test_routes_are_loaded_before_the_first_request_and_left_alone_by_the_collector(server):
    assert said(STARTED.format(server=server)) == [True, True, True]
