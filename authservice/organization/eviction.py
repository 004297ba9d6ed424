"""Recoveries of an account: what becomes of the invitations that were sent from it."""

from __future__ import annotations

from datetime import datetime

from authservice.core.invitations import eviction
from authservice.core.users.person import Person
from authservice.kernel import events
from authservice.kernel.client import Client
from authservice.organization.conf import conf
from authservice.organization.invitations import CANCELLED, described
from authservice.organization.models import OrganizationInvitation


def revoke_unverified(person: Person) -> bool:
    """Fills the slot `revoke_unverified_access`. False: an invitation is no way to sign in to the
    account, so the mail about removed access does not mention it."""
    _cancel(person, None)
    return False


def revoke_recent(person: Person, since: datetime) -> bool:
    """Fills the slot `revoke_recent_access`; false as above."""
    _cancel(person, since)
    return False


def _cancel(person: Person, since: datetime | None) -> None:
    def record(invitation: OrganizationInvitation) -> None:
        known, target = described(invitation), invitation.organization
        events.record(CANCELLED, person, Client(), target=target, reason="recovery", **known)

    eviction.cancel_sent_by(
        person, OrganizationInvitation, record, since=since, ttl=conf.invitation_ttl
    )
