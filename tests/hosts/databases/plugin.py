"""Allows the tests to use every database of a host with several."""

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
        marker = item.get_closest_marker("django_db")
        fixtures = _FIXTURES & set(getattr(item, "fixturenames", ()))
        if marker or fixtures:
            arguments = {**(marker.kwargs if marker else {}), "databases": "__all__"}
            item.add_marker(pytest.mark.django_db(**arguments), append=False)


def _of_users_database(cls: type[TestCase], **options: Any) -> AbstractContextManager[Any]:
    """Capture the on-commit callbacks of the database of the users."""
    return _capture(cls, **{"using": router.db_for_write(get_user_model()), **options})


TestCase.captureOnCommitCallbacks = classmethod(_of_users_database)
