"""Owners are notified of changes by super admins; a number set by staff resets no password."""

import pytest

from authservice.core.models import Account
from authservice.kernel import message_queue
from tests.admin_api.people import ANN, OTHER_PHONE, PHONE, account

pytestmark = pytest.mark.django_db

NEW = "mine@example.com"


@pytest.fixture
def proven(ann):
    kept = account()
    kept.verified_email_key = kept.proven_email_key = kept.email_key
    kept.verified_phone_key = kept.phone_key
    kept.save()


def notices(post):
    return [job for job in post.jobs if job.kind == message_queue.CHANGED_BY_STAFF]


def test_a_changed_address_is_mailed_to_the_former_one_without_a_link(root, ann_id, proven, post):
    root.put(ann_id, email=NEW)

    (job,) = notices(post)
    letter = post.letter(message_queue.CHANGED_BY_STAFF)
    assert (job.target, letter.to, letter.channel) == (ANN, ANN, "email")
    assert letter.context["changed"] == ["email"]
    assert not {"link", "code"} & set(letter.context)


def test_a_changed_number_is_mailed(root, ann_id, proven, post):
    root.put(ann_id, phone_number=OTHER_PHONE)

    (job,) = notices(post)
    assert (job.target, job.details["changed"]) == (ANN, ["phone_number"])


def test_a_number_taken_away_is_mailed(root, ann_id, proven, post):
    root.put(ann_id, phone_number="")

    assert notices(post)[0].details["changed"] == ["phone_number"]


@pytest.mark.parametrize("change", [{"name": "Ann"}, {"email": ANN.upper()}, {"active": False}])
def test_another_change_is_not_mailed(root, ann_id, proven, post, change):
    assert root.put(ann_id, **change).status == 200

    assert notices(post) == []


def test_an_address_that_nobody_proved_is_not_written_to(root, ann_id, post):
    root.put(ann_id, email=NEW, phone_number=OTHER_PHONE)

    assert notices(post) == []


def test_a_refused_change_is_not_mailed(root, ann_id, proven, post):
    assert root.put(ann_id, email=root.email).status == 400

    assert notices(post) == []


def test_a_deleted_user_is_not_written_to(root, ann_id, proven, post):
    root.put(ann_id, email=NEW)
    root.delete(ann_id)

    assert post.letter(message_queue.CHANGED_BY_STAFF) is None


# Numbers


def test_a_number_that_staff_set_is_known_as_theirs(root, ann_id):
    root.put(ann_id, phone_number=OTHER_PHONE)

    kept = Account.objects.get(pk=account().pk)
    assert (kept.phone_set_by, kept.phone_verified_at) == ("staff", None)
    assert kept.phone_added_at is not None


def test_a_number_that_staff_set_and_verified_says_when(root, ann_id):
    root.put(ann_id, phone_number=OTHER_PHONE, phone_number_verified=True)

    assert account().phone_set_by == "staff"
    assert account().phone_verified_at is not None


def test_a_number_of_a_user_whom_staff_made_is_known_as_theirs(root):
    root.create(email="eve@example.com", phone_number=PHONE)

    assert account("eve@example.com").phone_set_by == "staff"


def test_another_change_leaves_the_number_to_its_owner(root, ann_id):
    root.put(ann_id, name="Ann", phone_number=PHONE)

    assert account().phone_set_by == "signup"


@pytest.mark.parametrize("verified", [True, False])
def test_a_number_that_staff_set_resets_no_password(root, api, ann_id, proven, post, verified):
    root.put(ann_id, phone_number=OTHER_PHONE, phone_number_verified=verified)
    if not verified:
        api.post("send-verification-phone", phone=OTHER_PHONE)
        code = post.code(message_queue.VERIFY_PHONE)
        assert api.post("verify-phone", phone=OTHER_PHONE, code=code).status == 200
    assert account().verified_phone_key

    assert api.post("forgot-password", phone=OTHER_PHONE).status == 200

    letter = post.letter(message_queue.RESET_BY_CODE)
    assert letter.kind == "reset-code-refused"
    assert "code" not in letter.context
