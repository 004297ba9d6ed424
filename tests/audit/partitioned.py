"""A plugin of pytest: the audit table is in months, as after a year of the command's daily runs."""

from datetime import UTC, datetime, timedelta

import pytest


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup, django_db_blocker):
    # Imported late: this plugin is loaded before pytest rewrites assertions in the other one.
    import time_machine

    from authservice.audit import partitions

    with django_db_blocker.unblock():
        with time_machine.travel(datetime.now(UTC) - timedelta(days=400)):
            partitions.convert()
        partitions.extend(3)
