"""The supported versions of Python and Django are the same wherever they are written."""

import re
import tomllib
from configparser import RawConfigParser
from itertools import product
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
WORKFLOW = yaml.safe_load((ROOT / ".github/workflows/ci.yml").read_text())
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
PAIR = re.compile(r"py3(\d+)-django(\d)(\d)")


def tox_environments():
    """The names of `envlist`, with each `{a,b}` written out."""
    parser = RawConfigParser()
    parser.read(ROOT / "tox.ini")
    for line in parser["tox"]["envlist"].split():
        parts = re.split(r"[{}]", line)
        yield from map("".join, product(*(part.split(",") for part in parts)))


def tox_pairs():
    """Each ((3, 13), (5, 2)) that tox tests."""
    found = filter(None, map(PAIR.fullmatch, tox_environments()))
    return {
        ((3, int(minor)), (int(major), int(feature)))
        for minor, major, feature in (match.groups() for match in found)
    }


def workflow_pairs():
    """The same pairs, as the workflow tests them on each database."""
    matrix = WORKFLOW["jobs"]["tests"]["strategy"]["matrix"]
    excluded = [(one["python"], one["django"]) for one in matrix["exclude"]]
    pairs = set(product(matrix["python"], matrix["django"])) - set(excluded)
    return {(version(python), version(django)) for python, django in pairs}


def documented_pairs():
    """The same pairs, as the table of the page on versions has them."""
    text = (ROOT / "docs/versioning.rst").read_text()
    rows = re.findall(r"^(\d.*?)  +(3\.\d.*)$", text, re.MULTILINE)
    for djangos, pythons in rows:
        numbers = (re.findall(r"\d\.\d+", cell) for cell in (pythons, djangos))
        yield from product(*(map(version, cell) for cell in numbers))


def version(text):
    return tuple(int(part) for part in text.split("."))


def classified(topic):
    """The versions X.Y among the classifiers of a topic."""
    pattern = re.compile(re.escape(topic) + r" :: (\d+\.\d+)")
    return {version(match[1]) for line in PROJECT["classifiers"] if (match := pattern.match(line))}


def shown(number):
    return ".".join(map(str, number))


def test_workflow_tests_the_pairs_of_tox():
    assert len(tox_pairs()) > 1
    assert workflow_pairs() == tox_pairs()


def test_documentation_names_the_pairs_of_tox():
    assert set(documented_pairs()) == tox_pairs()


def test_workflow_tests_every_database():
    matrix = WORKFLOW["jobs"]["tests"]["strategy"]["matrix"]

    assert matrix["database"] == ["sqlite", "postgresql", "mariadb"]
    assert {one["database"] for one in matrix["include"]} == {"postgresql", "mariadb"}


def test_workflow_tests_the_lowest_versions_as_the_ci_script_does():
    steps = WORKFLOW["jobs"]["lowest"]["steps"]
    [python] = [step["with"] for step in steps if step.get("uses", "").startswith("actions/setup")]
    commands = "\n".join(step.get("run", "") for step in steps)
    [suite] = re.findall(r"DATABASE_URL=\$database (pytest .*)", (ROOT / ".ci/run").read_text())

    assert version(python["python-version"]) == min(tox_pairs())[0]
    assert 'python -m tests.release.lowest > "$RUNNER_TEMP/lowest.txt"' in commands
    assert '--constraint "$RUNNER_TEMP/lowest.txt"' in commands
    assert suite in commands.splitlines()


def test_workflow_runs_every_check_of_tox():
    checks = WORKFLOW["jobs"]["checks"]["strategy"]["matrix"]["check"]

    assert checks == [name for name in tox_environments() if not PAIR.fullmatch(name)]


@pytest.mark.parametrize(
    ("topic", "place"), [("Programming Language :: Python", 0), ("Framework :: Django", 1)]
)
def test_classifiers_name_the_versions_that_tox_tests(topic, place):
    assert classified(topic) == {pair[place] for pair in tox_pairs()}


def test_package_requires_the_oldest_versions_that_tox_tests():
    pythons, djangos = (set(versions) for versions in zip(*tox_pairs(), strict=True))
    bound = re.compile(rf"Django>={re.escape(shown(min(djangos)))}(\.\d+)?,<.*")

    assert PROJECT["requires-python"] == f">={shown(min(pythons))}"
    assert list(filter(bound.fullmatch, PROJECT["dependencies"]))


def test_readme_names_the_supported_range():
    pythons, djangos = (sorted(set(versions)) for versions in zip(*tox_pairs(), strict=True))
    text = (ROOT / "README.rst").read_text()

    assert f"Python {shown(pythons[0])} to {shown(pythons[-1])}, " in text
    assert f"Django {shown(djangos[0])} to {shown(djangos[-1])}" in text


def test_workflow_can_only_read_the_repository():
    jobs = WORKFLOW["jobs"].values()

    assert WORKFLOW["permissions"] == {"contents": "read"}
    assert [job for job in jobs if "permissions" in job] == []
