"""Runs the races of the account pages in a host with Django's sessions, on databases that have
several writers."""

import pytest

from tests.hosts.runs import holds


@pytest.fixture(autouse=True, scope="module")
def _pages():
    """Not those of the other tests of this folder: the host has its own."""


def test_tabs_of_one_browser():
    holds("tests/pages/inside/races", "--ds=tests.pages.settings")
