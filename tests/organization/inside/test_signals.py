"""Each change of an organization sends its signal, after the commit, with who did what to whom."""

import pytest

from authservice import signals
from tests.organization.inside.people import join
from tests.organization.inside.test_invitations import CAT, KIND, invite
from tests.support.client import PASSWORD
from tests.support.people import the_user

pytestmark = pytest.mark.django_db

PREFIX = "organization_"
NAMES = sorted(name for name in vars(signals) if name.startswith((PREFIX, "member_")))


@pytest.fixture
def sent(received):
    """`sent()` are the names of the signals since the last call, with the users and targets."""
    lists = {name.removeprefix(PREFIX): received(getattr(signals, name)) for name in NAMES}

    def taken():
        found = [(name, event) for name, events in lists.items() for event in events]
        for events in lists.values():
            events.clear()
        return {name: (event.user, event.target) for name, event in found}

    return taken


def test_changes_of_an_organization_send_their_signals(ann, sent):
    acme = ann.found()
    created = sent()
    organization = created["created"][1]
    assert created == {"created": (ann.user, organization)}
    assert str(organization.pk) == acme

    ann.switch(acme)
    assert sent() == {"switched": (ann.user, organization)}
    ann.put(f"org/{acme}", name="New")
    assert sent() == {"updated": (ann.user, organization)}
    ann.delete(f"org/{acme}")
    [(name, (user, target))] = sent().items()
    assert (name, user, target.slug) == ("deleted", ann.user, "acme")


def test_changes_of_members_send_their_signals(ann, acme, member, eve, sent):
    join(acme, eve)
    sent()

    ann.put(f"org/{acme}/members/{member.id}", role="admin")
    assert sent() == {"member_role_changed": (ann.user, member.user)}
    ann.delete(f"org/{acme}/members/{member.id}")
    assert sent() == {"member_removed": (ann.user, member.user)}
    eve.delete(f"org/{acme}/members/{eve.id}")
    assert sent() == {"member_removed": (eve.user, eve.user)}


def test_invitations_send_their_signals(api, ann, acme, post, accept, sent, no_floods):
    sent()

    first = invite(ann, acme).data["id"]
    [(name, (user, target))] = sent().items()
    assert (name, user, str(target.pk)) == ("invitation_sent", ann.user, acme)
    ann.delete(f"org/{acme}/invitations/{first}")
    assert sent() == {"invitation_cancelled": (ann.user, target)}

    invite(ann, acme)
    sent()
    api.request("POST", "org/invitations/decline", {"token": post.token(KIND)})
    assert sent() == {"invitation_declined": (None, target)}

    invite(ann, acme)
    sent()
    accept(post.token(KIND), name="Cat", password=PASSWORD)
    cat = the_user(CAT)
    assert sent() == {"invitation_accepted": (cat, target), "member_added": (cat, cat)}


def test_every_signal_of_organizations_is_tested():
    """A new signal needs a line in one of the tests above."""
    assert len(NAMES) == 11
