"""Lists read their query strictly, and pages never overlap."""

import pytest

from authservice.kernel import errors
from authservice.kernel.http import listing

FIELDS = ("created_at", "name")


def test_list_without_a_query_is_the_first_twenty_newest_first():
    assert listing.page({}, FIELDS) == listing.Page(0, 20, "created_at", "desc")


@pytest.mark.parametrize("name", ["limit", "offset", "sort_field", "sort_dir"])
def test_list_parameter_that_is_empty_counts_as_absent(name):
    assert listing.page({name: ""}, FIELDS) == listing.page({}, FIELDS)


def test_list_limit_above_a_hundred_is_a_hundred():
    assert listing.page({"limit": "101"}, FIELDS).limit == 100


@pytest.mark.parametrize(
    "query",
    [
        {"limit": "0"},
        {"limit": "-1"},
        {"limit": "1.5"},
        {"limit": "１"},
        {"limit": "+5"},
        {"limit": " 5"},
        {"offset": "-1"},
        {"offset": "ten"},
        {"sort_field": "password"},
        {"sort_dir": "DESC"},
    ],
)
def test_list_parameter_that_is_invalid_is_refused_by_name(query):
    with pytest.raises(errors.ValidationFailed) as refused:
        listing.page(query, FIELDS)

    assert refused.value.message.startswith(f"{next(iter(query))}: ")


def test_list_order_uses_the_id_for_equal_values_in_the_same_direction():
    page = listing.page({"sort_field": "name", "sort_dir": "asc"}, FIELDS)

    assert page.order("account__name") == ("account__name", "pk")
    assert listing.page({}, FIELDS).order(tie="id") == ("-created_at", "-id")
