"""How the table of accounts is stored."""

import uuid

import pytest
from django.contrib.auth import get_user_model
from django.db import connection

from authservice.core.credentials import lockout
from authservice.core.models import Account
from authservice.core.users import lookup

COUNTS = """SELECT n_tup_upd, n_tup_hot_upd FROM pg_stat_xact_user_tables WHERE relname = %s"""


@pytest.mark.django_db
@pytest.mark.skipif(
    connection.vendor != "postgresql", reason="Only PostgreSQL writes each index for a moved row."
)
def test_adding_a_device_touches_no_index_of_the_account():
    names = [f"user{number}" for number in range(200)]
    users = get_user_model().objects.bulk_create(
        get_user_model()(username=name, email=f"{name}@example.com") for name in names
    )
    people = [lookup.get_person(user) for user in users]
    before = updates()

    for person in people[::10]:
        lockout.device_addition(person, uuid.uuid4()).run()

    made, within_the_page = (now - then for now, then in zip(updates(), before, strict=True))
    assert (made, within_the_page) == (20, 20)


def updates():
    with connection.cursor() as cursor:
        cursor.execute(COUNTS, [Account._meta.db_table])
        return cursor.fetchone()
