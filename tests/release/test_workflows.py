"""The workflows that publish a release and look for known vulnerabilities."""

import re
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / ".github/workflows"
NAMES = sorted(path.name for path in FOLDER.glob("*.yml"))
# A version, the branch of a major version, a commit, or a workflow of this repository.
PINNED = re.compile(
    r"[\w-]+/[\w-]+@(v\d+|release/v\d+|[0-9a-f]{40})|\./\.github/workflows/\w+\.yml"
)


def workflow(name):
    found = yaml.safe_load((FOLDER / name).read_text())
    # YAML 1.1 reads the key `on` as true.
    found["on"] = found.pop(True)
    return found


def steps(name):
    for job in workflow(name)["jobs"].values():
        yield from job.get("steps", ())


def used(name):
    jobs = workflow(name)["jobs"].values()
    return [one["uses"] for one in (*jobs, *steps(name)) if "uses" in one]


RELEASE = workflow("release.yml")


@pytest.mark.parametrize("name", NAMES)
def test_actions_are_pinned(name):
    assert used(name)
    assert [action for action in used(name) if not PINNED.fullmatch(action)] == []


@pytest.mark.parametrize("name", NAMES)
def test_workflow_can_only_read_the_repository(name):
    assert workflow(name)["permissions"] == {"contents": "read"}


@pytest.mark.parametrize("name", NAMES)
def test_jobs_have_a_time_limit(name):
    jobs = workflow(name)["jobs"].items()

    # The jobs of a called workflow have their own.
    assert [key for key, job in jobs if "uses" not in job and "timeout-minutes" not in job] == []


@pytest.mark.parametrize("name", NAMES)
def test_commands_contain_no_values_of_the_event(name):
    """A tag or a branch may have a name that a shell executes: values reach commands through the
    environment."""
    assert [step["run"] for step in steps(name) if "${{" in step.get("run", "")] == []


@pytest.mark.parametrize("name", NAMES)
def test_scripts_and_called_workflows_exist(name):
    commands = " ".join(step.get("run", "") for step in steps(name))
    paths = re.findall(r"\bbash (\S+)", commands)
    paths += [f"{module.replace('.', '/')}.py" for module in re.findall(r"-m (tests\S+)", commands)]
    paths += [action for action in used(name) if action.startswith("./")]

    assert [path for path in paths if not (ROOT / path).is_file()] == []


def test_called_workflows_can_be_called():
    called = [Path(action).name for action in used("release.yml") if action.startswith("./")]

    assert sorted(called) == ["audit.yml", "ci.yml"]
    assert [name for name in called if "workflow_call" not in workflow(name)["on"]] == []


def test_release_starts_with_a_tag_only():
    assert RELEASE["on"] == {"push": {"tags": ["v*"]}}


def test_only_the_last_jobs_get_an_identity_token_and_nothing_else():
    jobs = RELEASE["jobs"]
    publishing = {name: job for name, job in jobs.items() if "permissions" in job}

    assert list(publishing) == ["publish", "publish-client"]
    assert [job["permissions"] for job in publishing.values()] == [{"id-token": "write"}] * 2
    assert [job["environment"]["name"] for job in publishing.values()] == ["pypi", "npm"]
    assert set(jobs["publish"]["needs"]) == set(jobs) - set(publishing)
    assert jobs["publish-client"]["needs"] == "publish"


def test_release_uses_no_stored_secret():
    text = (FOLDER / "release.yml").read_text()

    assert "secrets." not in text
    assert "password" not in text


def test_publishing_runs_no_code_of_the_repository():
    """Code that runs with the identity token could publish anything."""
    [download, publish] = RELEASE["jobs"]["publish"]["steps"]

    assert download["uses"].startswith("actions/download-artifact@")
    assert publish["uses"].startswith("pypa/gh-action-pypi-publish@")
    assert publish["with"] == {"attestations": True}


def test_publishing_the_client_runs_no_script_of_a_package():
    download, _, publish = RELEASE["jobs"]["publish-client"]["steps"]
    [archive] = [step["with"] for step in RELEASE["jobs"]["client"]["steps"][-1:]]

    assert download["with"]["name"] == archive["name"]
    assert "--ignore-scripts" in publish["run"].split()
    assert publish["run"].startswith(f"npm publish ./{download['with']['path']}*.tgz ")


def test_published_archives_are_those_that_were_tried():
    jobs = RELEASE["jobs"]
    [uploaded] = [step["with"] for step in jobs["build"]["steps"] if "name" in step.get("with", ())]
    downloads = [
        step["with"]
        for name in ("install", "publish")
        for step in jobs[name]["steps"]
        if "name" in step.get("with", ())
    ]

    assert jobs["install"]["needs"] == "build"
    assert downloads == [{"name": uploaded["name"], "path": uploaded["path"]}] * 2


def test_vulnerabilities_are_looked_for_every_week():
    [time] = workflow("audit.yml")["on"]["schedule"]

    assert re.fullmatch(r"\d+ \d+ \* \* [0-6]", time["cron"])
