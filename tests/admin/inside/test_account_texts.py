"""Texts of an account in Django admin follow the rules of the API."""

import pytest

from tests.admin.inside.test_changes import account, on_account_page, on_user_page
from tests.support.people import has

pytestmark = pytest.mark.django_db

PAGES = pytest.mark.parametrize("save", [on_account_page, on_user_page])
OWN = ["name", *(name for name in ("first_name", "last_name") if not has(name))]
FIELDS = pytest.mark.parametrize("field", OWN)
MARKS = "a" + "\u0301" * 40
MANY = "Must not contain more than 30 combining marks in a row."
CONTROL = "Must not contain control characters or broken Unicode."


@PAGES
@FIELDS
@pytest.mark.parametrize(
    ("text", "error"), [("Ann\tLee", CONTROL), ("Ann\x07", CONTROL), (MARKS, MANY)]
)
def test_name_that_the_api_refuses_is_refused(root, ann, save, field, text, error):
    assert error in save(root, **{field: text})

    assert getattr(account(), field) == ""


@PAGES
@pytest.mark.parametrize("end", ["\x01", MARKS])
def test_avatar_that_the_api_refuses_is_refused(root, ann, save, end):
    save(root, avatar=f"https://example.com/{end}")

    assert account().avatar == ""


@PAGES
def test_name_is_stored_in_the_normal_form_of_the_api(root, ann, save):
    save(root, name="Ren\u0065\u0301e")

    assert account().name == "Ren\u00e9e"


@PAGES
def test_unchanged_name_that_the_api_refuses_can_be_saved(root, ann, save):
    kept = account()
    kept.name = "Ann\tLee"
    kept.save()

    save(root, name="Ann\tLee", avatar="https://example.com/ann.png")

    assert account().avatar == "https://example.com/ann.png"
