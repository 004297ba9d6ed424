"""The checks of a release find each fault, and find none in this tree."""

import pytest

from tests.release import contents, ready

CHANGELOG = "Changelog\n=========\n\n0.2.0 (2030-01-31)\n------------------\n"
REPOSITORY = {
    "authservice/py.typed",
    "authservice/core/locale/de.mo",
    "docs/index.rst",
    "tests/a.py",
}
WHEEL = {"authservice/py.typed", "authservice/core/locale/de.mo"}


def test_version_is_read_from_the_package():
    import authservice

    assert ready.version() == authservice.__version__


def test_typescript_client_has_the_version_of_the_package():
    assert ready.client_version() == ready.version()


def test_release_with_version_changelog_and_recorded_data_is_ready():
    assert list(ready.problems("v0.2.0", "0.2.0", "0.2.0", CHANGELOG, {"0.2"})) == []


@pytest.mark.parametrize(
    ("tag", "version", "client", "recorded", "problem"),
    [
        ("0.2.0", "0.2.0", "0.2.0", {"0.2"}, "The tag is 0.2.0"),
        ("v0.3.0", "0.2.0", "0.2.0", {"0.2"}, "__version__ is 0.2.0"),
        ("v0.2.1", "0.2.1", "0.2.1", {"0.2"}, "has no section `0.2.1"),
        ("v0.2.0", "0.2.0", "0.1.0", {"0.2"}, "package.json has the version 0.1.0"),
        ("v0.2.0", "0.2.0", "0.2.0", {"0.1"}, "python -m tests.upgrade"),
    ],
)
def test_release_is_refused_with_one_problem(tag, version, client, recorded, problem):
    [found] = ready.problems(tag, version, client, CHANGELOG, recorded)

    assert problem in found


def test_complete_archives_have_no_problem():
    source = REPOSITORY - contents.NOT_PACKED

    assert list(contents.problems(REPOSITORY, source, WHEEL)) == []


@pytest.mark.parametrize(
    ("missing", "added", "problem"),
    [
        ("authservice/py.typed", set(), "the wheel lacks authservice/py.typed"),
        ("", {"tests/a.py"}, "the wheel must not have tests/a.py"),
        ("", {"example_project/settings.py"}, "must not have example_project/settings.py"),
    ],
)
def test_wheel_with_a_file_too_few_or_too_many_is_refused(missing, added, problem):
    [found] = contents.problems(REPOSITORY, REPOSITORY, WHEEL - {missing} | added)

    assert problem in found


def test_source_distribution_without_the_tests_is_refused():
    [found] = contents.problems(REPOSITORY, REPOSITORY - {"tests/a.py"}, WHEEL)

    assert found == "the source distribution lacks tests/a.py"


@pytest.mark.skipif(not (contents.ROOT / ".git").exists(), reason="no repository")
def test_files_of_the_repository_include_each_kind_that_the_package_needs():
    ours = [name for name in contents.of_repository() if name.startswith("authservice/")]

    for ending in ("/0001_initial.py", ".mo", ".html", "subject.txt", ".js", "py.typed"):
        assert [name for name in ours if name.endswith(ending)], ending
