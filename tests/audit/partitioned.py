"""A plugin of pytest: the audit table is in months, as after a year of the command's daily runs."""

from datetime import UTC, datetime, timedelta

import pytest
import time_machine


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup, django_db_blocker):
    from authservice.audit import partitions

    with django_db_blocker.unblock():
        with time_machine.travel(datetime.now(UTC) - timedelta(days=400)):
            partitions.convert()
        partitions.extend(3)
