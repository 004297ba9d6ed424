"""If super admins concurrently remove each other's rights, one super admin remains."""

from functools import partial

import pytest
from django.contrib.auth import get_user_model

from authservice.core.models import Account
from tests.races.crowd import SIZE, tally

ACTIONS = {
    "demote": ("PUT", "", {"is_super_admin": False}),
    "suspend by PUT": ("PUT", "", {"active": False}),
    "suspend": ("POST", "/suspend", None),
    "delete": ("DELETE", "", None),
}


def admins(api, number, size=2):
    """Ids and access tokens of the only super admins."""
    Account.objects.update(is_super_admin=False)
    signed_up = [api.sign_up(f"root{number}-{place}@example.com") for place in range(size)]
    pks = [data["user"]["id"] for data in signed_up]
    Account.objects.filter(pk__in=pks).update(is_super_admin=True)
    return [(pk, data["access_token"]) for pk, data in zip(pks, signed_up, strict=True)]


def active_super_admins():
    found = Account.objects.filter(is_super_admin=True, active=True)
    return found.filter(user__is_active=True).count()


def do(api, action, pk, token):
    method, path, body = ACTIONS[action]
    return partial(api.request, method, f"admin/users/{pk}{path}", body, token=token)


@pytest.mark.parametrize("action", ACTIONS)
def test_super_admins_removing_each_other_leave_one(crowd, api, rounds, action):
    for number in rounds:
        (ann, of_ann), (bob, of_bob) = admins(api, number)

        answers = crowd.race(
            [do(api, action, bob, of_ann), do(api, action, ann, of_bob)] * (SIZE // 2)
        )

        assert active_super_admins() == 1
        assert 500 not in {answer.status for answer in answers}


def test_super_admins_demoting_themselves_leave_one(crowd, api, rounds):
    for number in rounds:
        (ann, of_ann), (bob, of_bob) = admins(api, number)
        both = [do(api, "demote", ann, of_ann), do(api, "demote", bob, of_bob)]

        answers = crowd.race(both * (SIZE // 2))

        assert active_super_admins() == 1
        assert set(tally(answers)) <= {200, "LAST_SUPER_ADMIN", "FORBIDDEN"}


def test_super_admins_demoting_each_other_in_a_ring_leave_one(crowd, api, rounds):
    for number in rounds:
        ring = admins(api, number, SIZE)
        tokens = [token for _, token in ring]
        others = [pk for pk, _ in [*ring[1:], ring[0]]]

        answers = crowd.race(
            do(api, "demote", pk, token) for pk, token in zip(others, tokens, strict=True)
        )

        assert active_super_admins() >= 1
        assert set(tally(answers)) <= {200, "LAST_SUPER_ADMIN", "FORBIDDEN"}


def test_super_admins_with_mixed_actions_leave_one(crowd, api, rounds):
    for number in rounds:
        (ann, of_ann), (bob, of_bob) = admins(api, number)
        both = [do(api, action, bob, of_ann) for action in ACTIONS]
        both += [do(api, action, ann, of_bob) for action in ACTIONS]

        crowd.race(both * (SIZE // len(both)))

        assert active_super_admins() == 1


def test_deletion_during_a_change_leaves_no_partial_rows(crowd, api, rounds):
    for number in rounds:
        ((_, token),) = admins(api, number, 1)
        ann = api.sign_up(f"ann{number}@example.com")["user"]["id"]
        path = f"admin/users/{ann}"
        actions = [
            partial(api.request, "DELETE", path, token=token),
            partial(api.request, "PUT", path, {"name": "Ann", "email_verified": True}, token=token),
            partial(api.request, "POST", f"{path}/logout", token=token),
            partial(api.request, "POST", f"{path}/suspend", token=token),
        ]

        answers = crowd.race(actions * (SIZE // len(actions)))

        assert set(tally(answers)) <= {200, "USER_NOT_FOUND"}
        assert tally(answers[:: len(actions)])[200] == 1
        assert not get_user_model().objects.filter(pk=ann).exists()
        assert not Account.objects.filter(pk=ann).exists()
