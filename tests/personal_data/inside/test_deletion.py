"""What a deletion leaves of a user, and the table of it in the docs."""

import re

import pytest
from django.contrib.auth import get_user_model
from django.db import models as fields

from authservice.audit.models import Entry
from authservice.core.models import AttemptCounter
from tests.personal_data import story
from tests.support.client import PASSWORD
from tests.support.people import the_user

pytestmark = pytest.mark.django_db

TEXTS = (fields.CharField, fields.TextField, fields.JSONField)


def kept(name):
    """The columns of a model that the table names as kept."""
    _, after = story.table()[name]
    sentences = re.findall(r"Kept: (.*?)(?:\.|, (?:so that|which)|$)", after)
    return {column for text in sentences for column in re.findall(r"``(\w+)``", text)}


def columns(row):
    return {field.attname: getattr(row, field.attname) for field in row._meta.concrete_fields}


def _text(value):
    return bytes(value).decode("latin-1") if isinstance(value, memoryview | bytes) else str(value)


def traces(ann):
    """The columns in which something of Ann is found, by the name of the model."""
    values = (*story.VALUES, *ann.fingerprints)
    found = {}
    for model in story.models():
        for row in model.objects.all():
            for column, value in columns(row).items():
                shown = _text(value).lower()
                if any(text.lower() in shown for text in values):
                    found.setdefault(model._meta.label, set()).add(column)
    return found


def by_herself(ann):
    proof = {"password": PASSWORD, "code": ann.code}
    answer = ann.api.request("POST", "me/delete", proof, token=ann.token)
    assert answer.status == 200, answer.body


def by_staff(ann):
    token = ann.other.log_in("root@example.com")["access_token"]
    answer = ann.other.request("DELETE", f"admin/users/{ann.user_id}", token=token)
    assert answer.status == 200, answer.body


def by_the_project(ann):
    the_user(story.EMAIL).delete()


@pytest.fixture
def deleted(ann):
    """Ann has deleted her account."""
    by_herself(ann)
    return ann


def test_table_names_each_of_our_models():
    assert set(story.table()) == {model._meta.label for model in story.models()}


def test_story_fills_each_text_column(ann):
    empty = {
        f"{model._meta.label}.{field.attname}"
        for model in story.models()
        for field in model._meta.concrete_fields
        if isinstance(field, TEXTS)
        if not any(model.objects.values_list(field.attname, flat=True))
    }

    assert empty == set()


def test_story_leaves_traces_in_each_table_that_identifies_the_user(ann):
    assert set(traces(ann)) == {
        "authservice_audit.Entry",
        "authservice_core.Account",
        "authservice_core.AddressReservation",
        "authservice_core.ImportedRow",
        "authservice_core.LostMessage",
        "authservice_core.OneTimeToken",
        "authservice_core.PasswordCheck",
        "authservice_core.Session",
        "authservice_core.UnseenPassword",
        "authservice_invitation.PlatformInvitation",
        "authservice_oauth.LinkedAccount",
        "authservice_oauth.RestorableLink",
        "authservice_organization.FormerSlug",
        "authservice_organization.Organization",
        "authservice_organization.OrganizationInvitation",
        "authservice_passkeys.Passkey",
        "authservice_twofactor.RememberedDevice",
    }


def assert_only_named_columns_have_traces(ann):
    for name, found in traces(ann).items():
        assert found <= kept(name), name


def test_own_deletion_leaves_traces_only_in_the_columns_that_the_table_names(ann):
    by_herself(ann)

    assert_only_named_columns_have_traces(ann)


def test_deletion_by_staff_leaves_traces_only_in_the_columns_that_the_table_names(ann):
    by_staff(ann)

    assert_only_named_columns_have_traces(ann)


def test_deletion_by_the_project_leaves_traces_only_in_the_columns_that_the_table_names(ann):
    by_the_project(ann)

    assert_only_named_columns_have_traces(ann)


def test_each_column_that_the_table_names_has_a_trace(deleted):
    """So the table does not say that more stays than does."""
    found = traces(deleted)
    of_ids = {"actor_id", "target_id"}  # the id of a user is in them, which is a number here

    for name in story.table():
        assert kept(name) - of_ids <= found.get(name, set()), name
    assert Entry.objects.filter(actor_id=deleted.user_id).exists()
    assert Entry.objects.filter(target_id=deleted.user_id).exists()


def test_no_row_references_the_deleted_user(deleted):
    users = get_user_model().objects.values("pk")
    references = [
        (model, field.attname)
        for model in story.models()
        for field in model._meta.concrete_fields
        if field.related_model is get_user_model()
    ]

    assert len(references) > 8
    for model, column in references:
        assert not model.objects.exclude(**{column: None}).exclude(**{f"{column}__in": users})


def test_rows_that_the_table_calls_removed_are_gone(ann, deleted):
    others = {"root@example.com", story.BOB}
    for name, (_, after) in story.table().items():
        if after == "Removed":
            model = next(it for it in story.models() if it._meta.label == name)
            owner = "user" if hasattr(model, "user") else "authenticator__user"
            emails = set(model.objects.values_list(f"{owner}__email", flat=True))
            assert emails <= others, name


def test_counters_have_digests_only(ann):
    for row in AttemptCounter.objects.all():
        assert re.fullmatch("[0-9a-f]{64}", row.key)
