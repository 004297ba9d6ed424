"""The recipe of the docs on PostgreSQL: a view that forgets to filter shows nobody else's rows."""

from contextlib import contextmanager

import pytest
from django.db import connection
from django.test import Client

from tests.organization.shop.models import Project
from tests.organization.shop.recipe import POLICY

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(
        connection.vendor != "postgresql", reason="only PostgreSQL has row-level security"
    ),
]
# Roles belong to the whole server, on which several test runs have their databases.
ROLE = connection.ops.quote_name(f"tenants of {connection.settings_dict['NAME']}")


def run(*statements):
    with connection.cursor() as cursor:
        for statement in statements:
            cursor.execute(statement)


@contextmanager
def as_administrator():
    run("RESET ROLE")
    yield
    run(f"SET ROLE {ROLE}")


@pytest.fixture(params=["role of the application", "owner of the table"])
def role(request):
    """The connection has a role that is no superuser; the recipe holds for the owner too."""
    run(f"CREATE ROLE {ROLE}", f"GRANT ALL ON ALL TABLES IN SCHEMA public TO {ROLE}")
    run(f"GRANT ALL ON ALL SEQUENCES IN SCHEMA public TO {ROLE}")
    if request.param.startswith("owner"):
        run(f"ALTER TABLE shop_project OWNER TO {ROLE}")
    run(f"SET ROLE {ROLE}")
    yield
    run("RESET ROLE")
    with connection.schema_editor() as editor:
        editor.delete_model(Project)
        editor.create_model(Project)
    run(f"DROP OWNED BY {ROLE}", f"DROP ROLE {ROLE}")


@pytest.fixture
def tenants(settings, role, ann, eve):
    """Two users with an active organization and one project each."""
    settings.MIDDLEWARE = [
        *settings.MIDDLEWARE,
        "tests.organization.shop.recipe.RowSecurityMiddleware",
    ]
    with as_administrator():
        for person, name in ((ann, "acme"), (eve, "other")):
            person.org_id = person.found(name)
            person.switch(person.org_id)
            Project.objects.create(name=f"of {name}", organization_id=person.org_id)
    return ann, eve


@pytest.fixture
def protected(tenants):
    with as_administrator():
        run(POLICY)
    return tenants


def get(path, person=None):
    headers = {"Authorization": f"Bearer {person.token}"} if person else {}
    return Client(raise_request_exception=False).get(f"/shop/{path}", headers=headers)


def stored():
    """What a superuser sees."""
    with as_administrator():
        return sorted(Project.objects.values_list("name", flat=True))


def test_without_the_recipe_a_forgotten_filter_shows_all_rows(tenants):
    ann, _ = tenants

    assert get("names", ann).json() == ["of acme", "of other"]


def test_forgotten_filter_shows_the_rows_of_the_organization_only(protected):
    ann, eve = protected

    assert get("names", ann).json() == ["of acme"]
    assert get("names", eve).json() == ["of other"]
    assert get("names").json() == []


def test_forgotten_filter_changes_the_rows_of_the_organization_only(protected):
    ann, _ = protected

    assert get("rename", ann).json() == 1
    assert get("rename").json() == 0
    assert stored() == ["of other", "taken"]


def test_row_of_another_organization_is_not_written(protected):
    ann, eve = protected

    assert get(f"create?organization={eve.org_id}", ann).status_code == 500
    assert stored() == ["of acme", "of other"]
    assert get(f"create?organization={ann.org_id}", ann).status_code == 200


def test_refused_request_changes_nothing(protected):
    ann, _ = protected

    assert get("rename?status=409", ann).json() == 1
    assert stored() == ["of acme", "of other"]


def test_connection_keeps_nothing_after_a_request(protected):
    ann, _ = protected
    get("names", ann)

    assert Project.objects.count() == 0


def test_deleted_organization_removes_its_rows(protected):
    ann, _ = protected

    assert ann.delete(f"org/{ann.org_id}").status == 200
    assert stored() == ["of other"]
