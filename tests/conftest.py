import pytest
from django.core.cache import caches

from tests.client import Api


@pytest.fixture
def api() -> Api:
    return Api()


@pytest.fixture(autouse=True)
def _calm():
    """Flood counters start at nothing for each test."""
    caches["default"].clear()
