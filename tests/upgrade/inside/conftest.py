import os
from datetime import datetime, timedelta

import pytest
from django.conf import settings as configured

from tests.support.flows import CommittingApi
from tests.upgrade import files, loading

FOLDER = files.FOLDER / os.environ.get("RELEASE", files.releases()[-1])
HELD = files.read(FOLDER / configured.LOGIN / files.CLIENTS)
# How long the upgrade took. Codes and challenges are still valid.
LATER = timedelta(minutes=2)


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup, django_db_blocker):
    with django_db_blocker.unblock():
        loading.load(FOLDER, configured.LOGIN)


@pytest.fixture(autouse=True)
def _after_the_upgrade(time_machine):
    time_machine.move_to(datetime.fromisoformat(HELD["recorded_at"]) + LATER, tick=False)


@pytest.fixture
def held():
    """What the clients held when the release was recorded."""
    return HELD


@pytest.fixture
def api():
    return CommittingApi()
