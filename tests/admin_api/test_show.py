"""GET /admin/users/{id} shows one user."""

import uuid

import pytest
from django.contrib.auth import get_user_model

from authservice.core.models import Account
from tests.admin_api.people import ANN, make_superuser, needs_superusers
from tests.contract.shapes import ADMIN_USER, fits, is_refusal
from tests.support.people import unsaved

pytestmark = pytest.mark.django_db


def test_user_is_shown_with_the_fields_for_admins(root, ann, ann_id):
    answer = root.show(ann_id)

    assert answer.status == 200
    assert list(answer.body) == ["data"]
    assert fits(answer.data, ADMIN_USER)
    assert answer.data == {**ann["user"], "is_super_admin": False, "token_version": 0}


def test_super_admin_is_shown_as_super_admin(root):
    assert root.show(root.id).data["is_super_admin"] is True


@needs_superusers
def test_superuser_of_the_project_is_shown_as_super_admin(root, ann_id):
    make_superuser(ANN)

    assert root.show(ann_id).data["is_super_admin"] is True


def test_token_version_is_shown(root, ann_id):
    root.do("logout", ann_id)

    assert root.show(ann_id).data["token_version"] == 1


@pytest.mark.parametrize(
    "who",
    ["0", "-1", "999999", "9" * 30, "ann", "1.0", "%20", "01", "+1", "%D9%A1", "a%00b", "1_0"],
)
def test_unknown_or_malformed_id_is_not_found(root, who):
    assert is_refusal(root.show(who), 404, "USER_NOT_FOUND")


def test_uuid_of_no_user_is_not_found(root):
    assert is_refusal(root.show(str(uuid.uuid4())), 404, "USER_NOT_FOUND")


def test_user_without_an_account_is_shown_and_gets_an_account(root):
    (user,) = get_user_model().objects.bulk_create([unsaved("eve@example.com")])
    pk = get_user_model().objects.get(email="eve@example.com").pk

    answer = root.show(str(pk))

    assert fits(answer.data, ADMIN_USER)
    assert Account.objects.filter(pk=pk).exists()
