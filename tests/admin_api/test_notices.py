"""Super admins' changes are mailed to the owner; a number set by staff cannot reset a password."""

import pytest

from authservice.core.messages import kinds
from authservice.core.models import Account
from tests.admin_api.people import ANN, OTHER_PHONE, PHONE, account

pytestmark = pytest.mark.django_db

NEW = "mine@example.com"


@pytest.fixture
def verified_ann(ann):
    """Ann has verified her address and number."""
    row = account()
    row.verified_email_key = row.proven_email_key = row.email_key
    row.verified_phone_key = row.phone_key
    row.save()


def notices(post):
    return [job for job in post.jobs if job.kind == kinds.CHANGED_BY_STAFF]


def test_change_of_address_is_mailed_to_the_former_address_without_a_link(
    root, ann_id, verified_ann, post
):
    root.put(ann_id, email=NEW)

    (job,) = notices(post)
    outgoing = post.outgoing(kinds.CHANGED_BY_STAFF)
    assert (job.target, outgoing.to, outgoing.channel) == (ANN, ANN, "email")
    assert outgoing.context["changed"] == ["email"]
    assert not {"link", "code"} & set(outgoing.context)


def test_change_of_number_is_mailed(root, ann_id, verified_ann, post):
    root.put(ann_id, phone_number=OTHER_PHONE)

    (job,) = notices(post)
    assert (job.target, job.details["changed"]) == (ANN, ["phone_number"])


def test_removal_of_number_is_mailed(root, ann_id, verified_ann, post):
    root.put(ann_id, phone_number="")

    assert notices(post)[0].details["changed"] == ["phone_number"]


@pytest.mark.parametrize("change", [{"name": "Ann"}, {"email": ANN.upper()}, {"active": False}])
def test_other_change_is_not_mailed(root, ann_id, verified_ann, post, change):
    assert root.put(ann_id, **change).status == 200

    assert notices(post) == []


def test_unverified_address_gets_no_notice(root, ann_id, post):
    root.put(ann_id, email=NEW, phone_number=OTHER_PHONE)

    assert notices(post) == []


def test_refused_change_is_not_mailed(root, ann_id, verified_ann, post):
    assert root.put(ann_id, email=root.email).status == 400

    assert notices(post) == []


def test_deleted_user_gets_no_notice(root, ann_id, verified_ann, post):
    root.put(ann_id, email=NEW)
    root.delete(ann_id)

    assert post.outgoing(kinds.CHANGED_BY_STAFF) is None


# Numbers


def test_number_changed_by_staff_is_marked_as_set_by_staff(root, ann_id):
    root.put(ann_id, phone_number=OTHER_PHONE)

    row = Account.objects.get(pk=account().pk)
    assert (row.phone_set_by, row.phone_verified_at) == ("staff", None)
    assert row.phone_added_at is not None


def test_number_set_and_verified_by_staff_has_a_time_of_verification(root, ann_id):
    root.put(ann_id, phone_number=OTHER_PHONE, phone_number_verified=True)

    assert account().phone_set_by == "staff"
    assert account().phone_verified_at is not None


def test_number_of_a_user_created_by_staff_is_marked_as_set_by_staff(root):
    root.create(email="eve@example.com", phone_number=PHONE)

    assert account("eve@example.com").phone_set_by == "staff"


def test_other_change_keeps_the_number_marked_as_set_by_its_owner(root, ann_id):
    root.put(ann_id, name="Ann", phone_number=PHONE)

    assert account().phone_set_by == "signup"


@pytest.mark.parametrize("verified", [True, False])
def test_number_set_by_staff_cannot_reset_the_password(
    root, api, ann_id, verified_ann, post, verified
):
    root.put(ann_id, phone_number=OTHER_PHONE, phone_number_verified=verified)
    if not verified:
        api.post("send-verification-phone", phone=OTHER_PHONE)
        code = post.code(kinds.VERIFY_PHONE)
        assert api.post("verify-phone", phone=OTHER_PHONE, code=code).status == 200
    assert account().verified_phone_key

    assert api.post("forgot-password", phone=OTHER_PHONE).status == 200

    outgoing = post.outgoing(kinds.RESET_BY_CODE)
    assert outgoing.kind == "reset-code-refused"
    assert "code" not in outgoing.context
