"""Staff change an organization in Django admin, by the rules of the API."""

import re

import pytest

from authservice.kernel import clock as source
from authservice.organization import organizations
from authservice.organization.admin import OrganizationForm
from authservice.organization.models import FormerSlug, Organization
from tests.organization.inside.test_staff import BASE, boss

pytestmark = pytest.mark.django_db

__all__ = ["boss"]

CONTROL = "Must not contain control characters or broken Unicode."
REFUSED = [
    ("slug", "Bad Slug", "Must be 2 to 64 lowercase characters"),
    ("slug", "a", "Must be 2 to 64 lowercase characters"),
    ("slug", "-x-", "Must be 2 to 64 lowercase characters"),
    ("logo_url", "javascript:alert(1)", "Must be a URL that starts with http:// or https://."),
    ("metadata", "{bad", "Must be JSON text."),
    ("metadata", "[" * 101 + "]" * 101, "Must be JSON text."),
    ("metadata", '{"a":\r1}', CONTROL),
    ("metadata", f'"{"x" * 2048}"', "Ensure this field has no more than 2048 characters."),
    ("name", "Acme\tLimited", CONTROL),
    ("name", "a" + "\u0301" * 40, "Must not contain more than 30 combining marks in a row."),
]


@pytest.fixture(scope="module")
def forms():
    """The numbers of the inline forms. The first test reads their names from the page."""
    return {}


@pytest.fixture
def save(boss, acme, forms):
    """`save(name="New")` saves the page of the organization, with its other values unchanged."""
    path = f"{BASE}organization/{acme}/change/"
    if not forms:
        names = re.findall(r'name="([^"]*_FORMS)"', boss.get(path).content.decode())
        forms.update(dict.fromkeys(names, "0"))

    def post(**changes):
        row = Organization.objects.get(pk=acme)
        kept = {name: getattr(row, name) for name in ("name", "slug", "logo_url", "metadata")}
        return boss.post(path, {**kept, "active": "on", **forms, **changes})

    return post


def test_change_is_recorded_with_the_values_before_and_after(save, events):
    answer = save(name="New", slug="new", active="")

    assert answer.status_code == 302, answer.content
    assert Organization.objects.get().slug == "new"
    assert Organization.objects.get().updated_at is not None
    [event] = events()
    assert (event.action, event.actor_type) == ("org.updated", "admin")
    assert event.metadata == {
        "name": {"before": "Acme", "after": "New"},
        "slug": {"before": "acme", "after": "new"},
        "active": {"before": True, "after": False},
    }


def test_change_by_staff_is_recorded_as_the_same_change_over_the_api(save, ann, acme, events):
    ann.put(f"org/{acme}", name="New", metadata='{"a": 1}')
    ann.put(f"org/{acme}", name="Acme", metadata="")

    save(name="New", metadata='{"a": 1}')

    by_member, _, by_staff = events()
    assert by_staff.metadata == by_member.metadata


@pytest.mark.parametrize(("field", "value", "error"), REFUSED)
def test_value_that_the_api_refuses_is_an_error_of_the_field(save, events, field, value, error):
    before = Organization.objects.values().get()

    answer = save(**{field: value})

    errors = answer.context["adminform"].form.errors
    assert [*errors] == [field]
    assert errors[field][0].startswith(error)
    assert Organization.objects.values().get() == before
    assert events() == []


def test_error_of_a_field_is_in_the_language_of_the_page(save, settings):
    settings.LANGUAGE_CODE = "de"

    answer = save(metadata="{bad")

    assert answer.context["adminform"].form.errors == {"metadata": ["Muss JSON-Text sein."]}


def test_former_slug_of_a_renamed_organization_stays_reserved(save, ann):
    save(slug="new")

    assert ann.post("org", name="Acme", slug="acme").code == "ORG_SLUG_TAKEN"


def test_slug_of_another_organization_is_refused(save, ann):
    ann.found("Other")

    answer = save(slug="other")

    assert [*answer.context["adminform"].form.errors] == ["slug"]


@pytest.mark.parametrize("reserved", ["api", "gone", "former"])
def test_slug_that_the_api_reserves_is_refused(save, ann, events, reserved):
    gone = ann.found("Gone", slug="gone")
    assert ann.delete(f"org/{gone}").status == 200
    other = ann.found("Other", slug="former")
    Organization.objects.filter(pk=other).update(slug="other")
    organizations.retire_slug("former")  # as after a change of that slug by staff
    assert ann.post("org", name="Acme", slug=reserved).code == "ORG_SLUG_TAKEN"
    before = len(events())

    answer = save(slug=reserved)

    errors = answer.context["adminform"].form.errors
    assert errors == {"slug": ["This slug is taken or reserved."]}
    assert len(events()) == before
    assert Organization.objects.filter(slug="acme").exists()


def test_slug_is_given_again_after_its_reservation(save, ann):
    gone = ann.found("Gone", slug="gone")
    assert ann.delete(f"org/{gone}").status == 200
    FormerSlug.objects.update(retired_at=source.now() - organizations.FORMER_SLUG_TTL)

    assert save(slug="gone").status_code == 302


def test_own_former_slug_stays_reserved(save):
    save(slug="new")

    answer = save(slug="acme")

    assert [*answer.context["adminform"].form.errors] == ["slug"]


def test_reserved_slug_that_does_not_change_can_be_saved(save):
    Organization.objects.update(slug="api")

    assert save(name="New").status_code == 302


def test_metadata_of_several_lines_are_stored_with_line_feeds(save):
    assert save(metadata='{\r\n\t"a": 1\r\n}').status_code == 302

    assert Organization.objects.get().metadata == '{\n\t"a": 1\n}'


def test_name_is_stored_in_the_normal_form_of_the_api(save):
    save(name="Re\u0301al")

    assert Organization.objects.get().name == "R\u00e9al"


def test_saving_without_change_is_not_recorded(save, events):
    Organization.objects.update(metadata='{\n"a": 1\n}')

    assert save(metadata='{\r\n"a": 1\r\n}').status_code == 302

    assert events() == []
    assert Organization.objects.get().updated_at is None


def test_unchanged_value_that_the_api_refuses_can_be_saved(save):
    Organization.objects.update(slug="Bad Slug")

    assert save(name="New").status_code == 302

    row = Organization.objects.get()
    assert (row.name, row.slug) == ("New", "Bad Slug")


def test_field_that_the_page_did_not_change_is_not_written(save, monkeypatch):
    """The API may change it between the two statements of the page."""
    changes = OrganizationForm.changes

    def changed_meanwhile(form):
        Organization.objects.update(name="Renamed")
        return changes(form)

    monkeypatch.setattr(OrganizationForm, "changes", changed_meanwhile)

    save(slug="new")

    row = Organization.objects.get()
    assert (row.name, row.slug) == ("Renamed", "new")
