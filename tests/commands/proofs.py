"""Users from before the service was installed, and functions of a project for
`authservice_sync_accounts --verified`."""

from datetime import timedelta

from django.contrib.auth import get_user_model
from django.utils import timezone

from authservice.core.models import Account
from authservice.core.users import lookup
from tests.support.people import email_field, has, unsaved

ANN, BOB, CARL = "ann@example.com", "bob@example.com", "carl@example.com"
LONG_AGO = timezone.now() - timedelta(days=900)
UNPROVEN = "unproven: the first magic link of an owner"

NOT_A_FUNCTION = "all"


def answer(users):
    return []


def named(users):
    """What a test has set."""
    return answer(users)


async def asynchronous(users):
    return []


def old(email=ANN, **more):
    """A user from before the service was installed, without an account."""
    long_ago = {"date_joined": LONG_AGO} if has("date_joined") else {}
    user = unsaved(email, **long_ago, **more)
    get_user_model().objects.bulk_create([user])
    # Some databases find addresses in either case.
    found = get_user_model().objects.filter(**{email_field(): email})
    (stored,) = [user for user in found if getattr(user, email_field()) == email]
    assert not Account.objects.filter(user=stored).exists()
    return stored


def proven(user):
    found = lookup.find_by_pk(user.pk)
    return bool(found and found.email_proven)
