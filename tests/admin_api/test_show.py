"""GET /admin/users/{id}."""

import uuid

import pytest
from django.contrib.auth import get_user_model

from authservice.core.models import Account
from tests.admin_api.people import ANN, make_superuser, superusers
from tests.contract.shapes import ADMIN_USER, fits, is_refusal
from tests.people import unsaved

pytestmark = pytest.mark.django_db


def test_a_user_is_shown_with_the_fields_of_admins(root, ann, ann_id):
    answer = root.show(ann_id)

    assert answer.status == 200
    assert list(answer.body) == ["data"]
    assert fits(answer.data, ADMIN_USER)
    assert answer.data == {**ann["user"], "is_super_admin": False, "token_version": 0}


def test_a_super_admin_is_told_as_one(root):
    assert root.show(root.id).data["is_super_admin"] is True


@superusers
def test_a_superuser_of_the_project_is_told_as_one(root, ann_id):
    make_superuser(ANN)

    assert root.show(ann_id).data["is_super_admin"] is True


def test_the_version_of_tokens_is_told(root, ann_id):
    root.do("logout", ann_id)

    assert root.show(ann_id).data["token_version"] == 1


@pytest.mark.parametrize(
    "who",
    ["0", "-1", "999999", "9" * 30, "ann", "1.0", "%20", "01", "+1", "%D9%A1", "a%00b", "1_0"],
)
def test_nobody_is_user_not_found(root, who):
    assert is_refusal(root.show(who), 404, "USER_NOT_FOUND")


def test_an_id_of_another_kind_is_user_not_found(root):
    assert is_refusal(root.show(str(uuid.uuid4())), 404, "USER_NOT_FOUND")


def test_a_user_who_came_without_us_is_shown_and_adopted(root):
    (user,) = get_user_model().objects.bulk_create([unsaved("eve@example.com")])
    pk = get_user_model().objects.get(email="eve@example.com").pk

    answer = root.show(str(pk))

    assert fits(answer.data, ADMIN_USER)
    assert Account.objects.filter(pk=pk).exists()
