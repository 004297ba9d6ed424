"""Runs the tests of `inside` in projects with other user models than Django's own."""

from pathlib import Path

import pytest

from tests.hosts.runs import holds

HERE = Path(__file__).parent / "inside"


FLAGS = [f"{flag}{kind}User" for flag in ("", "Active") for kind in ("Number", "Code", "Phone")]
NAMES = [f"{kind}User" for kind in ("Number", "Code", "Phone", "Rank")]
# Each is a host of its own, and takes most of its time to start: the quick suite tries the one that
# differs most from Django's. The others are slow.
QUICK = {"flags": "NumberUser", "names": "RankUser"}


def models(names, quick):
    return [name if name == quick else pytest.param(name, marks=pytest.mark.slow) for name in names]


def suite(model, *files, options=()):
    paths = (str(HERE / f"test_{file}.py") for file in files)
    holds("--ds=tests.user_models.settings", *options, *paths, migrate=False, USER_MODEL=model)


@pytest.mark.parametrize("model", models(FLAGS, QUICK["flags"]))
def test_users_are_active_as_their_model_says(model):
    suite(model, "flags")


@pytest.mark.slow
def test_example_of_django_has_super_admins():
    suite("ExampleUser", "example")


@pytest.mark.parametrize("model", models(NAMES, QUICK["names"]))
def test_login_names_are_what_their_field_holds(model):
    suite(model, "login_names", "pages")


def test_rows_that_the_project_refuses_are_no_crashes():
    suite("StrictUser", "refused_rows", "validators")


@pytest.mark.slow
def test_each_way_to_refuse_a_row_is_no_crash_at_each_place():
    suite("StrictUser", "refused_rows", options=("-m", "slow"))


@pytest.mark.slow
def test_check_names_the_constraints_that_refuse_a_second_user():
    suite("ColumnsUser", "unique_constraints")
    suite("ChildUser", "parent_table")
