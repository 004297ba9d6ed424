"""Accepting and declining: the token joins and signs in, through the one door."""

import pytest

from authservice.core.models import Account, Session
from authservice.organization.models import Membership, Organization, OrganizationInvitation
from tests.organization.inside.people import Person, join, role_of
from tests.organization.inside.test_invitations import CAT, KIND, NOT_PENDING, invite
from tests.support.client import PASSWORD
from tests.support.flows import deactivate, prove
from tests.support.forging import claims
from tests.support.people import the_user
from tests.twofactor.people import Person as Enrolled

pytestmark = pytest.mark.django_db


NEW = {"name": "Cat", "password": PASSWORD}
UNKNOWN = (404, "INVITATION_NOT_FOUND")
TOKENS = {"access_token", "refresh_token", "expires_in", "status", "user", "message", "data"}


@pytest.fixture
def token(ann, acme, post):
    """The token of an invitation of Cat, who has no account."""
    invite(ann, acme)
    return post.token(KIND)


@pytest.fixture
def cat(api, ann):
    """Cat with a verified account."""
    person = Person(api, "cat")
    prove(CAT)
    return person


@pytest.fixture
def decline(api):
    return lambda token: api.request("POST", "org/invitations/decline", {"token": token})


def test_new_user_joins_and_is_signed_in(api, acme, token, accept):
    answer = accept(token, **NEW)

    assert answer.status == 200
    assert set(answer.data) == TOKENS | {"member", "is_new_user"}
    assert answer.data["is_new_user"] is True
    assert (answer.data["user"]["name"], answer.data["user"]["email_verified"]) == ("Cat", True)
    member = answer.data["member"]
    assert set(member) == {"id", "org_id", "user_id", "role", "joined_at"}
    assert (member["org_id"], member["role"]) == (acme, "member")
    [own] = answer.data["data"]["organizations"]
    assert own["id"] == acme
    assert api.get(f"org/{acme}", token=answer.data["access_token"]).status == 200
    assert api.log_in(CAT)


@pytest.mark.parametrize("missing", ["name", "password"])
def test_new_user_needs_name_and_password(token, accept, missing):
    answer = accept(token, **{**NEW, missing: ""})

    assert answer.error == (400, "VALIDATION_ERROR")
    assert answer.data["message"].startswith(f"{missing}:")
    assert accept(token, **NEW).status == 200


def test_weak_password_is_refused(token, accept):
    assert accept(token, name="Cat", password="12345678").error == (400, "INVALID_PASSWORD")


def test_existing_user_joins_without_name_and_password(cat, acme, token, accept):
    answer = accept(token, name="Other", password="x")

    assert answer.status == 200
    assert (answer.data["is_new_user"], answer.data["user"]["name"]) == (False, "Cat")
    assert role_of(acme, cat) == "member"


def test_invited_address_in_another_case_is_the_same_account(api, ann, acme, cat, post, accept):
    invite(ann, acme, "CAT@Example.COM", role="admin")

    assert accept(post.token(KIND)).data["member"]["user_id"] == cat.id
    assert role_of(acme, cat) == "admin"


def test_signed_in_user_keeps_the_session(cat, token, accept):
    before = Session.objects.get(user=cat.user)

    answer = accept(token, cat)

    after = Session.objects.get(user=cat.user)
    assert (after.pk, after.auth_time) == (before.pk, before.auth_time)
    cat.keep(answer.data)
    assert cat.refresh().status == 200


def test_signed_in_user_keeps_the_active_organization(cat, acme, token, accept):
    own = cat.found("Own")
    cat.switch(own)

    answer = accept(token, cat)

    extras = answer.data["data"]
    assert extras["active_organization"] == extras["organizations"][0]
    assert (
        extras["active_organization"]["id"] == own == claims(answer.data["access_token"])["org_id"]
    )
    assert [each["id"] for each in extras["organizations"]] == [own, acme]


def test_token_of_another_account_is_ignored(ann, cat, token, accept):
    answer = accept(token, ann)

    assert answer.data["user"]["id"] == cat.id
    assert Session.objects.filter(user=ann.user).count() == 1
    assert Session.objects.filter(user=cat.user).count() == 2


@pytest.mark.parametrize("given", ["unknown", "x" * 43, "\u00e4", "a" * 512])
def test_unknown_token_is_not_found(accept, decline, given):
    assert accept(given, **NEW).error == UNKNOWN
    assert decline(given).error == UNKNOWN


def test_token_is_unknown_as_an_invitation_to_the_service(api, token, accept):
    for path in ("invitations/accept", "invitations/decline"):
        assert api.request("POST", path, {"token": token, **NEW}).error == UNKNOWN

    assert accept(token, **NEW).status == 200


def test_used_token_is_refused(token, accept, decline):
    accept(token, **NEW)

    assert accept(token).error == NOT_PENDING
    assert decline(token).error == NOT_PENDING


def test_expired_token_is_refused(clock, ann, acme, post, accept, decline):
    invite(ann, acme)
    token = post.token(KIND)
    clock.forward(days=7)

    assert accept(token, **NEW).error == (400, "INVITATION_EXPIRED")
    assert decline(token).error == (400, "INVITATION_EXPIRED")


def test_cancelled_token_is_refused(ann, acme, token, accept):
    sent = OrganizationInvitation.objects.get()
    ann.delete(f"org/{acme}/invitations/{sent.pk}")

    assert accept(token, **NEW).error == NOT_PENDING


def test_declined_invitation_ends_and_another_one_works(
    ann, acme, token, post, accept, decline, no_floods
):
    answer = decline(token)

    assert (answer.status, answer.body) == (200, {"data": None})
    assert OrganizationInvitation.objects.get().status == "declined"
    assert accept(token, **NEW).error == NOT_PENDING
    invite(ann, acme)
    assert accept(post.token(KIND), **NEW).status == 200


def test_inactive_user_is_refused(cat, token, accept):
    deactivate(CAT)

    assert accept(token).error == (403, "USER_NOT_ACTIVE")
    assert OrganizationInvitation.objects.get().status == "pending"


def test_account_that_never_proved_its_address_loses_its_access_first(api, ann, acme, post, accept):
    thief = Person(api, "cat")
    invite(ann, acme)

    assert accept(post.token(KIND)).status == 200

    assert thief.get("me").error == (401, "INVALID_TOKEN")
    login = api.post("login", email=CAT, password=PASSWORD)
    assert login.error == (401, "INVALID_CREDENTIALS")


def test_accepting_proves_the_address(api, cat, token, accept):
    Account.objects.filter(user=cat.id).update(verified_email_key="")

    accept(token, cat)

    assert cat.get("me").data["email_verified"] is True


@pytest.mark.parametrize("role", ["member", ""])
def test_invitation_is_void_if_the_inviter_lost_the_right(api, ann, acme, bob, post, accept, role):
    join(acme, bob, "admin")
    invite(bob, acme)
    path = f"org/{acme}/members/{bob.id}"
    assert (ann.put(path, role=role) if role else ann.delete(path)).status == 200

    assert accept(post.token(KIND), **NEW).error == NOT_PENDING
    assert not Membership.objects.filter(user__email=CAT).exists()


def test_invitation_is_void_if_the_inviter_manages_its_role_no_longer(
    api, ann, acme, bob, post, accept
):
    join(acme, bob, "owner")
    invite(bob, acme, role="owner")
    token = post.token(KIND)
    ann.put(f"org/{acme}/members/{bob.id}", role="admin")

    assert accept(token, **NEW).error == NOT_PENDING


def test_invitation_of_a_suspended_inviter_is_void(ann, token, accept):
    deactivate(ann.email)

    assert accept(token, **NEW).error == NOT_PENDING


def test_invitation_to_an_inactive_organization_is_unknown(token, accept, decline):
    Organization.objects.update(active=False)

    assert accept(token, **NEW).error == UNKNOWN
    assert decline(token).error == UNKNOWN
    assert OrganizationInvitation.objects.get().status == "pending"


def test_invitation_to_a_full_organization_is_refused(acme, token, accept, bob, organization):
    organization(MAX_MEMBERS=2)
    join(acme, bob)

    assert accept(token, **NEW).error == (403, "ORG_MAX_MEMBERS")
    assert OrganizationInvitation.objects.get().status == "pending"


def test_member_who_joined_meanwhile_is_refused(acme, cat, token, accept):
    join(acme, cat)

    assert accept(token).error == (409, "ORG_MEMBER_EXISTS")


def test_account_with_a_second_factor_is_challenged_and_joins(api, ann, acme, post, accept):
    enrolled = Enrolled(api, CAT).sign_up()
    prove(CAT)
    enrolled.enrol()
    invite(ann, acme)

    answer = accept(post.token(KIND))

    assert answer.status == 200
    assert set(answer.data) == {"status", "user", "challenges", "message"}
    assert Membership.objects.filter(organization=acme, user=the_user(CAT)).exists()


def test_sign_up_by_invitation_works_while_sign_up_is_closed(token, accept, configure, api):
    configure(CORE={"ALLOW_SIGNUP": False})

    assert api.post("signup", email="x@example.com", password=PASSWORD).status == 403
    assert accept(token, **NEW).status == 200


def test_fields_that_a_body_cannot_set_are_ignored(acme, token, accept, eve):
    forged = {"role": "owner", "org_id": "1", "email": eve.email, "status": "pending"}

    answer = accept(token, **NEW, **forged, is_super_admin=True)

    assert (answer.data["member"]["role"], answer.data["user"]["email"]) == ("member", CAT)


def test_events_of_a_new_user(token, accept, events):
    accept(token, **NEW)

    assert [event.action for event in events("")] == [
        *("auth.signup", "user.email.verified"),
        *("org.invitation.accepted", "org.member.added", "auth.login.success"),
    ]


def test_events_of_a_decline(token, decline, events):
    decline(token)

    [event] = events()
    assert (event.action, event.user) == ("org.invitation.declined", None)
