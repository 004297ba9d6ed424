"""Inviting to an organization: sending, listing, cancelling and sending again."""

from datetime import timedelta
from urllib.parse import urlsplit

import pytest

from authservice.core.messages import limits
from authservice.kernel.modules import plugged
from authservice.organization.models import OrganizationInvitation
from tests.invitation.invites import lifetime
from tests.organization.inside.people import Person, join
from tests.support.messenger.post import query

pytestmark = pytest.mark.django_db

KIND = "org-invitation"
FIELDS = {
    *("id", "org_id", "email", "role", "inviter_id", "status", "expires_at", "created_at"),
}
CAT = "cat@example.com"
TOO_LOW = (403, "ORG_INSUFFICIENT_ROLE")
NOT_PENDING = (400, "INVITATION_NOT_PENDING")
UNKNOWN = "01890a5d-ac96-774b-bcce-b302099a8057"


def invite(person, org_id, email=CAT, **more):
    return person.post(f"org/{org_id}/invite", email=email, **more)


def listed(person, org_id, more=""):
    return person.get(f"org/{org_id}/invitations{more}").data


def test_invitation_is_pending_for_seven_days(clock, ann, acme):
    clock.stand_still()  # the lifetimes are compared exactly
    answer = invite(ann, acme)

    assert answer.status == 201
    assert answer.data["mailed"] is True
    assert set(answer.data) == {*FIELDS, "mailed"}
    assert (answer.data["status"], answer.data["role"]) == ("pending", "member")
    assert (answer.data["email"], answer.data["inviter_id"]) == (CAT, ann.id)
    assert lifetime(answer) == timedelta(days=7)
    assert listed(ann, acme) == [{key: answer.data[key] for key in FIELDS}]


def test_mail_has_a_link_to_the_front_end(ann, acme, post, configure):
    configure(FRONTEND={"URL": "https://app.example.com"})
    invite(ann, acme)

    link = post.link(KIND)

    assert urlsplit(link)._replace(query="").geturl() == (
        "https://app.example.com/org/invitations/accept"
    )
    assert list(query(link)) == ["token"]


def test_mail_without_a_front_end_links_to_the_service(ann, acme, post):
    invite(ann, acme)

    assert post.link(KIND).startswith("http://testserver/auth/org/invitations/accept?token=")


def test_token_is_neither_stored_nor_queued(ann, acme, post):
    invite(ann, acme)
    token = post.token(KIND)

    row = OrganizationInvitation.objects.values().get()
    assert token not in str(row)
    assert token not in str(post.jobs)
    assert token not in str(listed(ann, acme))


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("Acme Inc.", "Acme Inc."),
        ("Löwen", "Löwen"),
        ("Win at evil.example", "win-at-evil-example"),
        ("http://evil", "http-evil"),
        ("a" * 65, "a" * 64),
    ],
)
def test_mail_shows_a_name_only_if_it_is_no_link(ann, post, name, shown):
    invite(ann, ann.found(name))

    assert post.outgoing(KIND).context["organization"] == f'"{shown}"'


@pytest.mark.parametrize("path", ["invitations", f"invitations/{UNKNOWN}", "invite"])
def test_member_without_the_permission_reaches_no_invitation(acme, member, path):
    method = {"invite": "POST", "invitations": "GET"}.get(path, "DELETE")
    body = {"email": CAT} if method == "POST" else None

    assert member.request(method, f"org/{acme}/{path}", body).error == TOO_LOW


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"email": ""},
        {"email": "x"},
        {"email": 7},
        {"email": '"q"@example.com'},
        {"email": CAT, "role": "root"},
        {"email": CAT, "role": ""},
        {"email": CAT, "role": None},
    ],
    ids=repr,
)
def test_invalid_invitation_is_refused(ann, acme, body):
    assert ann.post(f"org/{acme}/invite", **body).error == (400, "VALIDATION_ERROR")


def test_member_cannot_be_invited(ann, acme, member):
    assert invite(ann, acme, member.email.upper()).error == (409, "ORG_MEMBER_EXISTS")


def test_second_pending_invitation_is_refused(ann, acme, bob):
    join(acme, bob, "admin")
    invite(ann, acme)

    assert invite(bob, acme, "CAT@example.com").error == (409, "INVITATION_ALREADY_EXISTS")


def test_full_organization_invites_nobody(ann, acme, organization):
    organization(MAX_MEMBERS=1)

    assert invite(ann, acme).error == (403, "ORG_MAX_MEMBERS")


def test_invitation_without_a_messenger_is_refused(ann, acme):
    with plugged("messenger", None):
        assert invite(ann, acme).error == (501, "EMAIL_NOT_CONFIGURED")


def test_fifty_first_invitation_of_a_day_is_refused(ann, acme):
    for number in range(50):
        assert invite(ann, acme, f"u{number}@example.com").status == 201

    answer = invite(ann, acme)

    assert answer.error == (429, "TOO_MANY_REQUESTS")
    assert int(answer.headers["Retry-After"]) > 80_000


def test_invitation_ignores_fields_that_a_body_cannot_set(ann, acme, bob):
    forged = {"status": "accepted", "inviter_id": bob.id, "id": UNKNOWN, "organization": UNKNOWN}

    data = invite(ann, acme, **forged).data

    assert (data["status"], data["inviter_id"], data["org_id"]) == ("pending", ann.id, acme)
    assert data["id"] != UNKNOWN


def test_cancelled_invitation_stays_listed_and_another_one_works(ann, acme, no_floods):
    first = invite(ann, acme).data["id"]

    assert ann.delete(f"org/{acme}/invitations/{first}").status == 200

    assert [row["status"] for row in listed(ann, acme)] == ["cancelled"]
    assert ann.delete(f"org/{acme}/invitations/{first}").error == NOT_PENDING
    assert invite(ann, acme).status == 201


@pytest.mark.parametrize("invitation_id", [UNKNOWN, "1", "x", UNKNOWN.upper()])
def test_unknown_invitation_is_not_found(ann, acme, invitation_id):
    path = f"org/{acme}/invitations/{invitation_id}"

    assert ann.delete(path).error == (404, "INVITATION_NOT_FOUND")
    assert ann.post(f"{path}/resend").error == (404, "INVITATION_NOT_FOUND")


def test_invitation_of_another_organization_is_not_found(ann, bob, acme):
    foreign = invite(bob, bob.found("Other")).data["id"]

    path = f"org/{acme}/invitations/{foreign}"

    assert ann.delete(path).error == (404, "INVITATION_NOT_FOUND")
    assert OrganizationInvitation.objects.get().status == "pending"


def test_admin_cannot_cancel_or_resend_the_invitation_of_an_owner(ann, acme, bob):
    join(acme, bob, "admin")
    path = f"org/{acme}/invitations/{invite(ann, acme, role='owner').data['id']}"

    assert bob.delete(path).error == TOO_LOW
    assert bob.post(f"{path}/resend").error == TOO_LOW


def test_resend_makes_a_new_token_and_renews_the_expiry(clock, ann, acme, post, api):
    clock.stand_still()  # the lifetimes are compared exactly
    sent = invite(ann, acme).data
    old = post.token(KIND)
    clock.forward(days=5)
    ann.log_in()

    answer = ann.post(f"org/{acme}/invitations/{sent['id']}/resend")

    assert lifetime(answer) == timedelta(days=5 + 7)
    assert answer.data == {**sent, "expires_at": answer.data["expires_at"]}
    new = post.token(KIND)
    decline = "org/invitations/decline"
    assert api.request("POST", decline, {"token": old}).error == (404, "INVITATION_NOT_FOUND")
    assert api.request("POST", decline, {"token": new}).body == {"data": None}


def test_resend_revives_an_expired_invitation(clock, ann, acme):
    sent = invite(ann, acme).data["id"]
    clock.forward(days=7)
    ann.log_in()
    assert [row["status"] for row in listed(ann, acme)] == ["expired"]

    assert ann.post(f"org/{acme}/invitations/{sent}/resend").data["status"] == "pending"


def test_resend_of_an_expired_one_beside_another_is_refused(clock, ann, acme):
    old = invite(ann, acme).data["id"]
    clock.forward(days=7)
    ann.log_in()
    assert invite(ann, acme).status == 201

    answer = ann.post(f"org/{acme}/invitations/{old}/resend")

    assert answer.error == (409, "INVITATION_ALREADY_EXISTS")


def test_sender_mails_a_recipient_once_a_day_over_all_organizations(ann, acme, bob, post):
    join(acme, bob, "admin")
    sent = invite(ann, acme).data["id"]
    path = f"org/{acme}/invitations/{sent}/resend"

    again, elsewhere = ann.post(path), invite(ann, ann.found("Other"))

    assert again.error == elsewhere.error == (429, "TOO_MANY_REQUESTS")
    assert int(again.headers["Retry-After"]) > 86300
    assert bob.post(path).data["mailed"] is True
    assert bob.post(path).status == 429
    assert listed(ann, acme)[0]["inviter_id"] == bob.id
    assert post.kinds().count(KIND) == 2


def test_cancelled_invitation_counts_for_the_day(ann, acme, post):
    sent = invite(ann, acme).data["id"]
    ann.delete(f"org/{acme}/invitations/{sent}")

    assert invite(ann, acme).error == (429, "TOO_MANY_REQUESTS")
    assert [row["status"] for row in listed(ann, acme)] == ["cancelled"]
    assert post.kinds().count(KIND) == 1


def test_sender_sees_that_the_recipient_gets_no_more_today(api, ann, acme, bob, post, configure):
    configure(THROTTLE={"RATES": {"signup": "9999/h"}})
    join(acme, bob, "admin")
    first = invite(ann, acme, email="dan@example.com").data["id"]
    for number in range(limits.NEW_SENDERS.amount):
        other = Person(api, f"other{number}")
        answer = invite(other, other.found(f"Other {number}"))
        assert (answer.status, answer.data["mailed"]) == (201, True)
    mails = post.kinds().count(KIND)

    sent = invite(ann, acme)
    again = bob.post(f"org/{acme}/invitations/{sent.data['id']}/resend")

    for answer, status in ((sent, 201), (again, 200)):
        assert (answer.status, answer.data["mailed"]) == (status, False)
        assert "no e-mail was sent" in answer.data["message"]
        assert answer.data["inviter_id"] == ann.id
    assert post.kinds().count(KIND) == mails
    assert bob.post(f"org/{acme}/invitations/{first}/resend").data["mailed"] is True


def test_resent_invitation_is_that_of_the_resender(ann, acme, bob):
    join(acme, bob, "admin")
    sent = invite(ann, acme).data["id"]

    assert bob.post(f"org/{acme}/invitations/{sent}/resend").data["inviter_id"] == bob.id
    assert str(OrganizationInvitation.objects.get().inviter_id) == bob.id
