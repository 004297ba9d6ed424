"""Concurrent changes of owners: an organization never loses its last one."""

from functools import partial
from itertools import product

import pytest

from authservice.organization.models import Membership, Organization
from tests.organization.inside.people import join, owners
from tests.races.crowd import SIZE, asked_rounds, tally

# What an owner does to another, or to oneself.
ACTIONS = {
    "demote": lambda by, other, org: by.put(f"org/{org}/members/{other.id}", role="member"),
    "remove": lambda by, other, org: by.delete(f"org/{org}/members/{other.id}"),
    "leave": lambda by, other, org: by.delete(f"org/{org}/members/{by.id}"),
    "step down": lambda by, other, org: by.put(f"org/{org}/members/{by.id}", role="admin"),
}
PAIRS = list(product(ACTIONS, ACTIONS))
REFUSALS = {
    200,
    *("ORG_CANNOT_REMOVE_OWNER", "ORG_INSUFFICIENT_ROLE", "ORG_NOT_MEMBER"),
    "ORG_MEMBER_NOT_FOUND",
}


@pytest.fixture
def two_owners(people, configure):
    """An organization with its two owners, made anew for each number."""
    # One user founds an organization for each round.
    configure(ORGANIZATION={"MAX_PER_USER": 0})
    ann, bob = people("ann"), people("bob")

    def found(number):
        acme = ann.found(f"Acme {number}")
        join(acme, bob, "owner")
        return ann, bob, acme

    return found


def race(crowd, two_owners, number, first, second):
    ann, bob, acme = two_owners(number)
    of_ann = partial(ACTIONS[first], ann, bob, acme)
    of_bob = partial(ACTIONS[second], bob, ann, acme)

    answers = crowd.race([of_ann, of_bob] * (SIZE // 8))

    assert owners(acme) >= 1, (first, second)
    assert set(tally(answers)) <= REFUSALS


def test_two_owners_leave_one(crowd, two_owners, rounds):
    for number, (first, second) in product(rounds, [("demote", "demote"), ("leave", "leave")]):
        race(crowd, two_owners, number, first, second)


def test_two_owners_with_mixed_actions_leave_one(crowd, two_owners):
    for number in asked_rounds(len(PAIRS)):
        race(crowd, two_owners, number, *PAIRS[number % len(PAIRS)])


def test_deleted_owner_and_leaving_owner_leave_one(crowd, people, rounds):
    for number in rounds:
        ann, bob, member = (people(name, number) for name in ("ann", "bob", "member"))
        acme = ann.found()
        join(acme, bob, "owner")
        join(acme, member)

        crowd.race([ann.user.delete, partial(ACTIONS["leave"], bob, ann, acme)])

        assert owners(acme) == 1


def test_deleted_owner_and_deleted_successor_leave_one(crowd, people, rounds):
    for number in rounds:
        ann, bob, eve = (people(name, number) for name in ("ann", "bob", "eve"))
        acme = ann.found()
        join(acme, bob, "admin")
        join(acme, eve)

        crowd.race([ann.user.delete, bob.user.delete])

        assert list(Membership.objects.filter(organization=acme).values_list("role")) == [
            ("owner",)
        ]


def test_members_deleted_at_once_take_the_organization(crowd, people, rounds):
    for number in rounds:
        ann, bob = people("ann", number), people("bob", number)
        acme = ann.found()
        join(acme, bob, "owner")

        crowd.race([ann.user.delete, bob.user.delete])

        assert not Organization.objects.filter(pk=acme).exists()
