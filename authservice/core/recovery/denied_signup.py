"""The owner of a mailbox denies a sign-up with their address: all access is removed."""

from __future__ import annotations

from django.db import transaction

from authservice.core.models import Account
from authservice.core.recovery import first_proof, verification
from authservice.kernel import databases, errors
from authservice.kernel.client import Client
from authservice.kernel.secret import Secret


def deny(token: Secret, email: str, client: Client) -> None:
    """Remove everything that was set up on the account.

    The account stays, unverified and without a password, sessions or number. Raises
    `VerificationTokenExpired`, or `InvalidVerificationToken`, also if the owner of the mailbox has
    proven the address before.
    """
    person, issued = verification.find_link(token, email)
    with transaction.atomic(using=databases.primary()):
        present = verification.lock_owner(person, issued)
        if present.email_proven:
            raise errors.InvalidVerificationToken
        first_proof.revoke(present, client)
        rows = Account.objects.filter(pk=present.user.pk)
        rows.update(verified_email_key="")
