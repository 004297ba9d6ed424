"""The lowest versions and the Pythons with which `.ci/run` tests the package."""

import os
import re
import shutil
import subprocess
import tomllib

import pytest

from tests.hosts.runs import ROOT
from tests.release import lowest

PROJECT = tomllib.loads(lowest.PYPROJECT.read_text())["project"]


def constraints(*dependencies, **extras):
    project = {"name": "us", "dependencies": list(dependencies), "optional-dependencies": extras}
    return list(lowest.constraints(project))


@pytest.mark.parametrize(
    ("requirement", "constraint"),
    [
        ("Django>=5.2.1,<6.2", "Django==5.2.1"),
        ("psycopg[binary,pool]>=3.2.1", "psycopg==3.2.1"),
        ("django-otp>=1.5", "django-otp==1.5"),
        ("zope.interface<8,>=7.0rc1", "zope.interface==7.0rc1"),
    ],
)
def test_constraint_is_the_lower_bound(requirement, constraint):
    assert constraints(requirement) == [constraint]
    assert constraints(extra=[requirement]) == [constraint]


def test_highest_bound_of_a_package_counts():
    given = constraints("django-otp>=1.10", keys=["django-otp>=1.9"], more=["django-otp>=1.5"])

    assert given == ["django-otp==1.10"]


def test_list_of_further_extras_is_no_dependency():
    assert constraints(all=["us[phone,redis]"]) == []


@pytest.mark.parametrize("requirement", ["celery", "celery<6", "celery==5.4", "celery~=5.4"])
def test_dependency_without_a_lower_bound_is_refused(requirement):
    with pytest.raises(lowest.NoLowerBound, match="'celery>=…'"):
        constraints(requirement)


def test_every_dependency_has_a_constraint():
    lines = list(lowest.constraints(PROJECT))

    lists = [PROJECT["dependencies"], *PROJECT["optional-dependencies"].values()]
    names = {re.match(r"[\w.-]+", one)[0] for requirements in lists for one in requirements}
    assert {line.partition("==")[0] for line in lines} == names - {PROJECT["name"]}
    assert len(lines) == len(set(lines))


@pytest.fixture
def pythons(tmp_path):
    """`pythons()` lists what `.ci/pythons` prints on a machine with the interpreters of `add`."""

    # The commands of the script, without the interpreters that this machine has beside them.
    tools = tmp_path / "tools"
    tools.mkdir()
    for name in ("bash", "dirname", "grep", "sort"):
        (tools / name).symlink_to(shutil.which(name))

    def list_them():
        environment = {"HOME": str(tmp_path / "home"), "PATH": f"{tmp_path / 'bin'}:{tools}"}
        found = subprocess.run(
            [tools / "bash", ROOT / ".ci/pythons"],
            env={**environment, "LANG": os.environ.get("LANG", "C")},
            capture_output=True,
            text=True,
            check=True,
        )
        return [line.split() for line in found.stdout.splitlines()]

    return list_them


@pytest.fixture
def add(tmp_path):
    """`add("bin", "3.13")` adds an interpreter of that version, which does nothing else than to say
    so; `said` is what it prints instead."""

    def add(folder, version, said=None):
        path = tmp_path / folder / f"python{version}"
        path.parent.mkdir(parents=True, exist_ok=True)
        said = f"{version} {path}" if said is None else said
        path.write_text(f"#!/bin/sh\n[ -n '{said}' ] && echo '{said}'\n")
        path.chmod(0o755)
        return str(path)

    return add


def pyenv(version):
    return f"home/.pyenv/versions/{version}/bin"


def test_newest_python_comes_first_wherever_it_is(pythons, add):
    paths = [add(pyenv("3.14.2"), "3.14"), add("bin", "3.13"), add(pyenv("3.12.1"), "3.12")]

    assert pythons() == [
        [version, path] for version, path in zip(("3.14", "3.13", "3.12"), paths, strict=True)
    ]


def test_python_on_the_path_comes_before_pyenv(pythons, add):
    add(pyenv("3.14.2"), "3.14")
    path = add("bin", "3.14")

    assert pythons()[0] == ["3.14", path]


def test_newest_patch_release_of_pyenv_is_used(pythons, add):
    add(pyenv("3.14.2"), "3.14")
    path = add(pyenv("3.14.10"), "3.14")

    assert pythons()[0] == ["3.14", path]


def test_unusable_python_is_skipped(pythons, add):
    add("bin", "3.14", said="")
    add(pyenv("3.14.1"), "3.14", said="3.9 /usr/bin/python3.9")
    path = add(pyenv("3.14.0"), "3.14")

    assert pythons()[0] == ["3.14", path]


def test_python_that_the_package_does_not_support_is_not_listed(pythons, add):
    add("bin", "3.99")
    add("bin", "3.9")
    path = add("bin", "3.13")

    assert pythons() == [["3.13", path]]
