"""The list of the sender and the list of the recipient."""

import uuid
from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from authservice.core.models import Account
from authservice.core.users.identifiers import email_key
from authservice.invitation.models import PlatformInvitation
from tests.invitation.invites import BOB
from tests.support.people import change, the_user
from tests.support.statements import statements

pytestmark = pytest.mark.django_db

INVALID = (400, "VALIDATION_ERROR")


def stored(email=BOB, **fields):
    now = timezone.now()
    return PlatformInvitation.objects.create(
        **{
            "email": email,
            "email_key": email_key(email),
            "inviter": the_user(),
            "purpose": "platform",
            "expires_at": now + timedelta(days=7),
            **fields,
        }
    )


@pytest.fixture
def five(ann):
    """One invitation in each status; the oldest first."""
    now = timezone.now()
    states = ["accepted", "declined", "cancelled", "expired", "pending"]
    return [
        stored(
            f"{state}@example.com",
            status="pending" if state == "expired" else state,
            purpose=f"purpose-{number % 2}",
            created_at=now - timedelta(days=10 - number),
            expires_at=now + timedelta(days=-1 if state == "expired" else number + 1),
        )
        for number, state in enumerate(states)
    ]


def test_list_shows_own_invitations_newest_first(api, invites, five, bob):
    listed = invites.listed()

    assert (listed["total"], listed["sort_field"], listed["sort_dir"]) == (5, "created_at", "desc")
    assert [row["status"] for row in listed["list"]] == [
        *("pending", "expired", "cancelled", "declined", "accepted")
    ]
    assert set(listed["list"][0]) == {
        *("id", "email", "purpose", "inviter_id", "status"),
        *("expires_at", "created_at", "metadata"),
    }
    assert invites.listed(token=bob["access_token"])["list"] == []


@pytest.mark.parametrize("status", ["pending", "expired", "accepted", "declined", "cancelled"])
def test_list_filters_by_the_status_by_the_clock(invites, five, status):
    listed = invites.listed(f"?status={status}")

    assert [row["email"] for row in listed["list"]] == [f"{status}@example.com"]
    assert listed["total"] == 1


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("purpose=purpose-1", ["expired", "declined"]),
        ("query=CE", ["cancelled", "accepted"]),
        ("query=%25", []),
        ("limit=2", ["pending", "expired"]),
        ("limit=2&offset=4", ["accepted"]),
        ("limit=&status=", ["pending", "expired", "cancelled", "declined", "accepted"]),
        (
            "sort_field=status&sort_dir=asc",
            ["accepted", "cancelled", "declined", "expired", "pending"],
        ),
        (
            "sort_field=expires_at&sort_dir=asc",
            ["expired", "accepted", "declined", "cancelled", "pending"],
        ),
        (
            "sort_field=purpose&sort_dir=asc",
            ["accepted", "cancelled", "pending", "declined", "expired"],
        ),
    ],
)
def test_list_filters_sorts_and_pages(invites, five, query, expected):
    emails = [row["email"] for row in invites.listed(f"?{query}")["list"]]

    if query.startswith("sort_field=purpose"):
        emails = [*sorted(emails[:3]), *sorted(emails[3:])]  # ties break on the id
    assert emails == [f"{state}@example.com" for state in expected]


@pytest.mark.parametrize(
    "query",
    ["status=open", "limit=0", "offset=-1", "limit=x", "sort_field=email", "sort_dir=up"],
)
def test_list_refuses_unknown_parameters(api, ann, query):
    assert api.get(f"invitations?{query}", token=ann["access_token"]).error == INVALID


def test_list_costs_two_statements_whatever_its_length(api, ann, invites):
    for number in range(30):
        stored(f"bob{number}@example.com")

    texts = statements(lambda: invites.listed("?limit=100"))

    assert len([text for text in texts if "authservice_invitation" in text]) == 2
    assert len(texts) == 3


def test_recipient_sees_pending_invitations_for_the_address(api, invites, bob):
    sent = invites.sent("BOB@Example.com", metadata='{"plan": 1}')
    stored(expires_at=timezone.now() - timedelta(seconds=1))
    stored(status="declined")
    stored("carol@example.com")

    answer = api.get("invitations/my", token=bob["access_token"])

    assert answer.status == 200
    assert [(row["id"], row["metadata"]) for row in answer.data] == [(sent, '{"plan": 1}')]
    assert answer.headers["X-Total-Count"] == "1"
    assert api.get("invitations/my", token=invites.token).body == {"data": []}


def test_recipient_needs_no_verified_address(api, invites):
    invites.sent()
    bob = api.sign_up(BOB)

    assert len(api.get("invitations/my", token=bob["access_token"]).data) == 1


def test_array_of_the_recipient_is_paged(api, bob):
    for number in range(25):
        stored(purpose=f"purpose-{number:02}")
    token = bob["access_token"]

    assert len(api.get("invitations/my", token=token).data) == 25
    page = api.get("invitations/my?limit=2&offset=1&sort_field=purpose&sort_dir=asc", token=token)
    assert [row["purpose"] for row in page.data] == ["purpose-01", "purpose-02"]
    assert page.headers["X-Total-Count"] == "25"
    assert len(api.get("invitations/my?purpose=purpose-07", token=token).data) == 1
    assert api.get("invitations/my?sort_field=status", token=token).error == INVALID


def test_array_of_the_recipient_costs_no_query_per_row(api, bob):
    for number in range(25):
        stored(purpose=f"purpose-{number:02}")

    cost = len(statements(lambda: api.get("invitations/my", token=bob["access_token"])))

    assert cost == 3


def test_user_without_an_address_has_no_invitations(api, ann):
    Account.objects.update(email="", email_key=None, email_claim="")
    change(email="")

    assert api.get("invitations/my", token=ann["access_token"]).data == []


@pytest.mark.parametrize("path", ["invitations", "invitations/my"])
def test_lists_need_a_signed_in_user(api, path):
    assert api.get(path).error == (401, "UNAUTHORIZED")


@pytest.mark.skipif(connection.vendor != "postgresql", reason="reads a plan of PostgreSQL")
def test_page_of_a_long_list_uses_an_index(invites):
    now, ann = timezone.now(), the_user()
    PlatformInvitation.objects.bulk_create(
        PlatformInvitation(
            id=uuid.uuid4(),
            email=f"bob{number}@example.com",
            email_key=email_key(f"bob{number}@example.com"),
            inviter=ann,
            purpose="platform",
            created_at=now - timedelta(minutes=number),
            expires_at=now,
        )
        for number in range(3000)
    )
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE authservice_invitation_platforminvitation")
    with CaptureQueriesContext(connection) as queries:
        invites.listed()
    text = next(q["sql"] for q in queries if "LIMIT 20" in q["sql"])
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN {text}")
        plan = "\n".join(row[0] for row in cursor.fetchall())

    assert "authsvc_invitation_sent" in plan
    assert "Sort" not in plan
