"""The export of a user who has used everything."""

import json
import tracemalloc
from datetime import datetime

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from authservice.audit.models import Entry
from authservice.core.models import AttemptCounter, OneTimeToken, Session
from authservice.core.staff import export_user
from authservice.core.users import lookup
from authservice.kernel import support_parts
from authservice.kernel.clock import uuid7
from authservice.kernel.http.envelope import utc
from authservice.oauth.models import LinkedAccount, RemovedLink
from authservice.organization.models import OrganizationInvitation
from authservice.twofactor.models import Authenticator, BackupCode, RememberedDevice
from tests.personal_data import story
from tests.support.people import the_user

pytestmark = pytest.mark.django_db

# Columns that the export has under another name, or not: secrets, digests, and numbers of no
# meaning outside of the service.
WITHHELD = {
    "Account": {
        *("user_id", "email_key", "email_claim", "username_key", "username_claim", "phone_key"),
        *("verified_email_key", "verified_phone_key", "proven_email_key", "device_ids"),
        *("token_version", "factor_version", "device_version"),
    },
    "Session": {
        *("user_id", "seed", "counter", "password_fingerprint", "token_version"),
        "factor_version",
    },
    "OneTimeToken": {
        *("digest", "code_digest", "target_key", "user_id", "payload", "password_fingerprint"),
        "resend_at",
    },
    "AddressReservation": {"id", "user_id", "email_key"},
    "PasswordCheck": {"id", "user_id", "password_fingerprint"},
    "UnseenPassword": {"id", "user_id", "password_fingerprint"},
    "LostMessage": {"id", "user_id", "job"},
    "AttemptCounter": {
        *("key", "count", "strikes", "day_count", "day_ends_at", "reported_until"),
    },
    "Authenticator": {"id", "user_id", "enrolment", "sealed_secret", "last_step"},
    "BackupCode": {"id", "authenticator_id", "digest", "used_at"},
    "RememberedDevice": {"id", "authenticator_id", "password_fingerprint"},
    "Handle": {"id", "user_id"},
    "Passkey": {"user_id", "credential_digest", "counter"},
    "LinkedAccount": {"id", "user_id", "subject_key", "sealed_tokens"},
    "RestorableLink": {"id", "user_id", "proven_key", "proven_at", "recoveries"},
    "RemovedLink": {"id", "user_id", "subject_digest", "key_id"},
    "Membership": {"id", "user_id"},
    "Organization": {"founder_id", "active", "updated_at"},
    "OrganizationInvitation": {
        *("email_key", "inviter_id", "token_digest", "mail_number", "recipient_version"),
        "recipient_fingerprint",
    },
    "PlatformInvitation": {
        *("email_key", "inviter_id", "token_digest", "mail_number", "recipient_version"),
        "recipient_fingerprint",
    },
}


def document_of(user_id):
    return json.loads(b"".join(export_user.document(lookup.find_by_id(user_id))))["data"]


def rows_by_part(document):
    return {part["name"]: part["rows"] for part in document["parts"]}


def test_every_part_is_in_the_table_and_has_rows(ann):
    parts = rows_by_part(document_of(ann.user_id))

    assert set(parts) == {name for names, _ in story.table().values() for name in names}
    assert [name for name, rows in parts.items() if not rows] == []


def test_every_column_is_exported_or_withheld_for_a_reason(ann):
    parts = rows_by_part(document_of(ann.user_id))

    for model in story.models():
        names, _ = story.table()[model._meta.label]
        if not names:
            continue
        columns = {field.attname for field in model._meta.concrete_fields}
        shown = {key for name in names for row in parts[name] for key in row}
        withheld = WITHHELD.get(model.__name__, set())
        assert columns - withheld <= shown, model
        assert withheld <= columns, model


def test_export_has_what_identifies_the_user(ann):
    text = json.dumps(document_of(ann.user_id), ensure_ascii=False)
    of_no_row = {story.FOREIGN_KEY}

    for value in set(story.VALUES) - of_no_row:
        is_digest = len(value) == 64
        assert (value in text) is not is_digest, value


def test_export_has_no_secret_hash_or_token(ann):
    text = json.dumps(document_of(ann.user_id))
    hidden = {
        the_user(story.EMAIL).password,
        *Session.objects.values_list("seed", flat=True),
        *Session.objects.values_list("password_fingerprint", flat=True),
        *OneTimeToken.objects.values_list("digest", flat=True),
        *OneTimeToken.objects.values_list("code_digest", flat=True),
        *(row.payload.get("sealed") for row in OneTimeToken.objects.all()),
        *AttemptCounter.objects.values_list("key", flat=True),
        *Authenticator.objects.values_list("sealed_secret", flat=True),
        *BackupCode.objects.values_list("digest", flat=True),
        *RememberedDevice.objects.values_list("password_fingerprint", flat=True),
        *LinkedAccount.objects.values_list("sealed_tokens", flat=True),
        *RemovedLink.objects.values_list("subject_digest", flat=True),
        *OrganizationInvitation.objects.values_list("token_digest", flat=True),
        ann.token,
        *ann.held.values(),
    }

    for value in filter(None, hidden):
        assert value not in text


def test_log_entries_of_staff_hide_their_address(ann):
    parts = rows_by_part(document_of(ann.user_id))

    of_staff = [row for row in parts["log_of_actions_on_you"] if row["actor_type"] == "admin"]
    assert [row["action"] for row in of_staff] == ["admin.user.updated"]
    assert not {"ip_address", "user_agent"} & set(of_staff[0])
    assert of_staff[0]["metadata"]["request_id"] == ""
    own = parts["log_of_your_actions"]
    assert {row["actor_id"] for row in own} == {ann.user_id}
    assert story.ADDRESS in {row["ip_address"] for row in own}


def test_export_of_another_user_has_nothing_of_hers(ann):
    bob = str(the_user(story.BOB).pk)
    document = document_of(bob)
    # Bob has invited her, and belongs to an organization that she has founded.
    for part in document["parts"]:
        if part["name"] in ("invitations_sent", "organization_invitations_sent"):
            part["rows"] = [{**row, "email": ""} for row in part["rows"]]
        if part["name"] == "log_of_your_actions":
            part["rows"] = [row for row in part["rows"] if "invitation.sent" not in row["action"]]

    text = json.dumps(document, ensure_ascii=False)

    assert [value for value in story.VALUES if value in text] == []
    assert document["user_id"] == bob


def test_unverified_address_gets_no_invitations(ann):
    person = lookup.find_by_id(ann.user_id)
    person.account.verified_email_key = ""

    parts = rows_by_part(json.loads(b"".join(export_user.document(person)))["data"])

    assert parts["invitations_received"] == []
    assert parts["organization_invitations_received"] == []


def test_export_is_recorded_before_it_is_read(ann):
    document = ann.api.get("me/export", token=ann.token).data

    [entry] = Entry.objects.filter(action="user.exported")
    assert (entry.actor_id, entry.ip_address) == (ann.user_id, story.ADDRESS)
    own = rows_by_part(document)["log_of_your_actions"]
    assert own[-1]["action"] == "user.exported"


@pytest.mark.slow
def test_20000_entries_are_not_held_in_memory(ann):
    """As JSON they are 10 MB."""
    more = 20_000
    Entry.objects.bulk_create(
        (
            Entry(
                id=uuid7(),
                action="auth.login.success",
                severity="info",
                actor_id=ann.user_id,
                actor_type="user",
                metadata=json.dumps({"request_id": "x" * 200}),
                user_agent=story.AGENT,
                created_at=timezone.now(),
            )
            for _ in range(more)
        ),
        batch_size=2_000,
    )
    length = 0
    with CaptureQueriesContext(connection) as queries:
        chunks = export_user.document(lookup.find_by_id(ann.user_id))
        connection.queries_log.clear()
        tracemalloc.start()
        for chunk in chunks:
            length += len(chunk)
            connection.queries_log.clear()
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        del queries

    assert length > more * 400
    assert peak < 4 * 2**20, peak


def test_time_without_a_zone_is_written_as_in_the_api(settings):
    """A middleware of the project activates the zone of its user."""
    settings.USE_TZ = False
    moment = datetime(2026, 7, 1, 12)

    with timezone.override("Asia/Tokyo"):
        written = support_parts._json({"at": moment})
        assert written == f'{{"at":"{utc(moment)}"}}'
