"""Staff return an account to its owner by changing its address. An attacker who reads the former
mailbox cannot revert that with an older link "this was not me"."""

import pytest

from authservice.core.messages import kinds
from authservice.core.models import OneTimeToken
from tests.admin_api.people import ANN, OTHER_PHONE, account
from tests.support.flows import prove

pytestmark = pytest.mark.django_db

SAFE = "safe@example.com"
CHOSEN = "owner picked 9 figs"


@pytest.fixture
def attacker(api, ann, ann_id, post):
    """Holds a session and reads the mailbox; changes the number and returns the mailed link."""
    prove(ANN)
    body = {"phone": OTHER_PHONE}
    assert api.request("PUT", "profile", body, token=ann["access_token"]).status == 200

    return post.token(kinds.PHONE_CHANGED)


def secure(api, token):
    return api.request("POST", "account/secure", {"token": token})


def test_link_from_before_the_change_of_address_reverts_nothing(api, root, attacker, ann_id, post):
    assert root.put(ann_id, email=SAFE).status == 200
    api.post("forgot-password", email=SAFE)
    token = post.token(kinds.RESET_BY_LINK)
    body = {"token": token, "email": SAFE, "new_password": CHOSEN}
    assert api.request("POST", "reset-password", body).status == 200
    post.jobs.clear()

    answer = secure(api, attacker)

    assert answer.error == (400, "TOKEN_EXPIRED")
    assert post.jobs == []
    assert api.post("login", email=SAFE, password=CHOSEN).status == 200
    assert account(SAFE).proven_email_key == account(SAFE).email_key


def test_link_that_is_not_mailed_yet_is_revoked_too(api, root, attacker, ann_id, post):
    queued = [job for job in post.jobs if job.kind == kinds.PHONE_CHANGED]
    OneTimeToken.objects.filter(purpose="secure-account").update(digest=None)
    root.put(ann_id, email=SAFE)
    post.jobs[:] = queued

    assert post.outgoing(kinds.PHONE_CHANGED) is None
    assert not OneTimeToken.objects.filter(purpose="secure-account", spent_at=None).exists()


@pytest.mark.parametrize("change", [{"email": ANN.upper()}, {"name": "Ann"}], ids=str)
def test_link_works_after_other_changes_by_staff(api, root, attacker, ann_id, change):
    assert root.put(ann_id, **change).status == 200

    assert secure(api, attacker).status == 200
    assert account().phone_number != OTHER_PHONE
