"""Lets the suite at every database of a host that has several."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.db import router
from django.test import TestCase

_FIXTURES = {"db", "transactional_db"}
_capture = TestCase.captureOnCommitCallbacks.__func__


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        asked = item.get_closest_marker("django_db")
        wanted = _FIXTURES & set(getattr(item, "fixturenames", ()))
        if asked or wanted:
            kept = {**(asked.kwargs if asked else {}), "databases": "__all__"}
            item.add_marker(pytest.mark.django_db(**kept), append=False)


def _where_people_are(cls: type[TestCase], **options: Any) -> AbstractContextManager[Any]:
    """What waits for a commit waits for the one of the people's database."""
    return _capture(cls, **{"using": router.db_for_write(get_user_model()), **options})


TestCase.captureOnCommitCallbacks = classmethod(_where_people_are)
