"""Concurrent sign-ups to organizations: names, members, limits, and the end of an organization."""

from functools import partial

import jwt
from django.test import TestCase

from authservice.core.models import Session
from authservice.organization import organizations
from authservice.organization.models import Membership, Organization, OrganizationInvitation
from tests.organization.inside.people import join
from tests.races.crowd import SIZE, tally
from tests.support.flows import prove

KIND = "org-invitation"
ACCEPT = "org/invitations/accept"


def test_organizations_with_one_name_get_different_slugs(crowd, people, crowds):
    founders = [people("founder", number) for number in range(SIZE)]
    for number in crowds:
        name = f"Acme of round {number}"

        answers = crowd.race(partial(founder.post, "org", name=name) for founder in founders)

        base, made = organizations.slug_base(name), {answer.data["slug"] for answer in answers}
        assert made == {base, *(f"{base}-{number}" for number in range(2, SIZE + 1))}
        assert all(organizations.is_slug(slug) for slug in made)


def test_slug_of_an_organization_that_is_deleted_meanwhile_is_not_given(crowd, people, rounds):
    ann = people("ann")
    others = [people("other", number) for number in range(8)]
    for number in rounds:
        slug = f"acme-{number}"
        acme = ann.found("Acme", slug=slug)

        answers = crowd.race(
            [
                partial(ann.delete, f"org/{acme}"),
                *(partial(other.post, "org", name="Acme", slug=slug) for other in others),
            ]
        )

        assert tally(answers) == {200: 1, "ORG_SLUG_TAKEN": 8}


def test_given_slug_is_given_once(crowd, people, crowds):
    founders = [people("founder", number) for number in range(SIZE // 2)]
    for number in crowds:
        answers = crowd.race(
            partial(founder.post, "org", name="Acme", slug=f"acme-{number}") for founder in founders
        )

        assert tally(answers) == {201: 1, "ORG_SLUG_TAKEN": len(founders) - 1}


def test_concurrent_requests_create_no_more_organizations_than_allowed(crowd, people, configure):
    configure(ORGANIZATION={"MAX_PER_USER": 2}, THROTTLE={"ENABLED": False})
    ann = people("ann")

    answers = crowd.all_do(partial(ann.post, "org", name="Acme"))

    assert tally(answers) == {201: 2, "ORG_MAX_PER_USER": SIZE - 2}


def test_switch_and_refresh_with_one_token_leave_one_successor(crowd, people, rounds):
    for number in rounds:
        ann = people("ann", number)
        acme, used = ann.found(), ann.refresh_token
        refresh = partial(ann.api.post, "refresh", refresh_token=used)
        switch = partial(ann.post, "org/switch", org_id=acme, refresh_token=used)

        answers = crowd.race([refresh, switch] * (SIZE // 2))

        assert tally(answers) == {200: 1, "INVALID_REFRESH_TOKEN": SIZE - 1}
        [won] = [answer.data for answer in answers if answer.status == 200]
        ann.keep(won)
        assert ann.refresh().status == 200


def test_switch_without_the_token_never_ends_the_session_that_is_refreshed(crowd, people, rounds):
    for number in rounds:
        ann = people("ann", number)
        acme, used = ann.found(), ann.refresh_token
        refresh = partial(ann.api.post, "refresh", refresh_token=used)
        switch = partial(ann.post, "org/switch", org_id=acme)

        answers = crowd.race([refresh, *[switch] * (SIZE - 1)])

        assert tally(answers) == {200: SIZE}
        ann.keep(answers[0].data)
        assert {answer.data["refresh_token"] for answer in answers} <= {used, ann.refresh_token}
        assert ann.refresh().status == 200
        assert claims(ann.token)["org_id"] == acme


def invited(by, acme, post, emails):
    """The tokens of invitations of these addresses."""
    tokens = []
    for email in emails:
        with TestCase.captureOnCommitCallbacks(execute=True):
            assert by.post(f"org/{acme}/invite", email=email).status == 201
        tokens.append(post.token(KIND))
    return tokens


def accepting(api, token, **body):
    return partial(api.request, "POST", ACCEPT, {"token": token, **body})


def test_one_invitation_accepted_at_once_makes_one_member(crowd, api, people, post, crowds):
    ann, cat = people("ann"), people("cat")
    prove(cat.email)
    for _ in crowds:
        acme = ann.found()
        [token] = invited(ann, acme, post, [cat.email])

        answers = crowd.all_do(accepting(api, token))

        assert tally(answers) == {200: 1, "INVITATION_NOT_PENDING": SIZE - 1}
        assert Membership.objects.filter(organization=acme).count() == 2


def test_one_invitation_of_a_new_user_makes_one_account_and_member(
    crowd, api, people, post, crowds
):
    ann = people("ann")
    for number in crowds:
        acme = ann.found()
        [token] = invited(ann, acme, post, [f"new{number}@example.com"])

        answers = crowd.all_do(accepting(api, token, name="New", password="plum tart 42 windows"))

        assert tally(answers)[200] == 1
        assert set(tally(answers)) <= {200, "INVITATION_NOT_PENDING", "USER_ALREADY_EXISTS"}
        assert Membership.objects.filter(organization=acme).count() == 2


def test_concurrent_joins_do_not_exceed_the_maximum_of_members(
    crowd, api, people, post, configure, crowds
):
    ann = people("ann")
    joining = [people("joiner", number) for number in range(SIZE)]
    for person in joining:
        prove(person.email)
    for _ in crowds:
        acme = ann.found()
        tokens = invited(ann, acme, post, [person.email for person in joining])
        configure(ORGANIZATION={"MAX_MEMBERS": 4}, THROTTLE={"ENABLED": False})

        answers = crowd.race(accepting(api, token) for token in tokens)

        assert tally(answers) == {200: 3, "ORG_MAX_MEMBERS": SIZE - 3}
        assert Membership.objects.filter(organization=acme).count() == 4
        configure(ORGANIZATION={}, THROTTLE={"ENABLED": False})


def test_one_address_is_invited_once(crowd, people):
    ann, bob = people("ann"), people("bob")
    acme = ann.found()
    join(acme, bob, "admin")
    invite = [partial(by.post, f"org/{acme}/invite", email="cat@example.com") for by in (ann, bob)]

    answers = crowd.race(invite * (SIZE // 2))

    assert tally(answers) == {201: 1, "INVITATION_ALREADY_EXISTS": SIZE - 1}


def test_accept_decline_cancel_and_resend_at_once_end_in_one_state(
    crowd, api, people, post, rounds
):
    ann, cat = people("ann"), people("cat")
    prove(cat.email)
    for _ in rounds:
        acme = ann.found()
        [token] = invited(ann, acme, post, [cat.email])
        row = OrganizationInvitation.objects.get(organization=acme)
        path = f"org/{acme}/invitations/{row.pk}"

        answers = crowd.race(
            [
                accepting(api, token),
                partial(api.request, "POST", "org/invitations/decline", {"token": token}),
                partial(ann.delete, path),
                partial(ann.post, f"{path}/resend"),
            ]
            * 4
        )

        row.refresh_from_db()
        joined = Membership.objects.filter(organization=acme, user=cat.user).exists()
        assert joined is (row.status == "accepted")
        assert set(tally(answers)) <= {200, "INVITATION_NOT_PENDING", "INVITATION_NOT_FOUND"}


def test_deleted_organization_leaves_no_orphan_and_no_claim(crowd, api, people, post, rounds):
    ann, bob, cat = people("ann"), people("bob"), people("cat")
    prove(cat.email)
    for _ in rounds:
        acme = ann.found()
        join(acme, bob)
        [token] = invited(ann, acme, post, [cat.email])
        bob.switch(acme)

        answers = crowd.race(
            [
                partial(ann.delete, f"org/{acme}"),
                accepting(api, token),
                partial(bob.post, "org/switch", org_id=acme),
                partial(api.post, "refresh", refresh_token=bob.refresh_token),
                partial(ann.put, f"org/{acme}/members/{bob.id}", role="admin"),
                partial(bob.delete, f"org/{acme}/members/{bob.id}"),
            ]
        )

        assert answers[0].status == 200
        assert 500 not in {answer.status for answer in answers}
        assert not Organization.objects.filter(pk=acme).exists()
        assert not Membership.objects.filter(organization=acme).exists()
        assert not Session.objects.filter(organization_id=acme).exists()
        newest = [a.data for a in (answers[2], answers[3]) if a.status == 200]
        for data in newest:
            refreshed = api.post("refresh", refresh_token=data["refresh_token"])
            if refreshed.status == 200:
                assert "org_id" not in claims(refreshed.data["access_token"])


def claims(token):
    return jwt.decode(token, options={"verify_signature": False})


def test_removed_member_who_switches_meanwhile_has_no_claim_afterwards(crowd, api, people, rounds):
    ann, bob = people("ann"), people("bob")
    for _ in rounds:
        acme = ann.found()
        join(acme, bob)

        crowd.race(
            [
                partial(ann.delete, f"org/{acme}/members/{bob.id}"),
                *[partial(bob.post, "org/switch", org_id=acme)] * 4,
            ]
        )

        assert not Session.objects.filter(organization_id=acme).exists()
