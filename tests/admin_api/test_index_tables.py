"""The tables of the indexes, if the user model of the host inherits from another model."""

from dataclasses import replace

import pytest
from django.contrib.auth.models import AbstractBaseUser
from django.db import models
from django.test.utils import isolate_apps

from authservice.admin import user_list
from authservice.core.users.user_model import host
from authservice.kernel import databases


@pytest.fixture
def employee():
    """A user model whose flags are in the table of its parent."""
    with isolate_apps("django.contrib.auth"):

        class Person(AbstractBaseUser):
            is_active = models.BooleanField(default=True)

            class Meta:
                app_label = "auth"

        class Employee(Person):
            is_superuser = models.BooleanField(default=False)

            class Meta:
                app_label = "auth"

        return Employee


def test_index_is_on_the_table_that_has_the_column(employee, monkeypatch):
    known = replace(host(), model=employee, active="is_active", superuser="is_superuser")
    monkeypatch.setattr(user_list, "host", lambda: known)

    made = {
        index.name: (index.table, index.definition)
        for index in user_list.wanted_indexes(databases.primary())
    }

    unquoted = {name: tuple(_unquoted(part) for part in parts) for name, parts in made.items()}
    assert unquoted["authsvc_user_suspended"] == ("auth_person", "(id) WHERE NOT is_active")
    assert unquoted["authsvc_user_lastlogin"] == ("auth_person", "(last_login)")
    assert unquoted["authsvc_user_superuser"] == (
        "auth_employee",
        "(person_ptr_id) WHERE is_superuser",
    )


def _unquoted(sql):
    return sql.replace('"', "").replace("`", "")
