"""A short run of `python -m tests.machines`, and the files of the deployment."""

import json
import re

import pytest
import yaml

from authservice.kernel import errors
from tests.hosts.runs import ROOT
from tests.machines import steps
from tests.machines.programs import DEPLOYMENT, missing
from tests.machines.site import RABBITMQ, WEB, WORKER, running
from tests.support import needs

COMPOSE = yaml.safe_load((DEPLOYMENT / "compose.yaml").read_text())["services"]
KUBERNETES = list(yaml.safe_load_all((DEPLOYMENT / "kubernetes.yaml").read_text()))
WITH_POD = {"Deployment", "Job"}


@pytest.mark.slow
@pytest.mark.once
@pytest.mark.xdist_group("machines")
@pytest.mark.skipif(bool(missing()), reason=f"not installed: {', '.join(missing())}")
@needs.service(RABBITMQ)
def test_logout_promotion_and_races_hold_on_two_machines(monkeypatch):
    monkeypatch.setattr(steps, "ROUNDS", 2)
    with running() as site:
        for step in (steps.visits, steps.races, steps.promoted):
            step(site)

        assert steps.conclude(site) == []


def test_mounted_files_exist():
    mounted = {
        volume.split(":")[0]
        for service in COMPOSE.values()
        for volume in service.get("volumes", [])
        if volume.startswith("./")
    }
    assert {name for name in mounted if not (DEPLOYMENT / name).exists()} == set()


def test_commands_are_those_of_the_test():
    web, worker = " ".join(WEB), " ".join(WORKER)

    assert COMPOSE["one"]["command"].startswith(web)
    assert COMPOSE["worker-two"]["command"].startswith(worker)
    commands = {pod["name"]: " ".join(pod["command"]) for pod in pods()}
    assert commands["web"].startswith(web)
    assert commands["worker"].startswith(worker)


def test_haproxy_gets_every_variable_of_its_configuration():
    named = set(re.findall(r"\$\{(\w+)(?:\[\*\])?\}", (DEPLOYMENT / "haproxy.cfg").read_text()))

    # The page says how to write the file with the password.
    assert {*COMPOSE["haproxy"]["environment"], "REDIS_PASSWORD"} == named
    assert COMPOSE["haproxy"]["env_file"] == ["redis.env"]


def test_haproxy_refuses_in_the_form_of_the_service():
    text = (DEPLOYMENT / "haproxy.cfg").read_text()
    headers, body = re.search(r"http-error status 503 .* hdr (.+) string '(.+)'", text).groups()
    error = errors.ServiceUnavailable()

    assert dict([headers.split()]) == error.headers
    assert json.loads(body) == {
        "data": {"code": error.code, "message": error.message},
        "message": error.message,
    }


def test_service_gets_only_variables_that_it_reads():
    sources = [*(ROOT / "example_project").glob("*.py"), DEPLOYMENT / "service" / "settings.py"]
    read = "".join(source.read_text() for source in sources)
    given = set(COMPOSE["one"]["environment"])
    for document in KUBERNETES:
        given |= set(document.get("data", {})) | set(document.get("stringData", {}))

    assert {name for name in given if f'"{name}"' not in read} == set()


def pods():
    """The containers of all deployments and jobs."""
    return [
        container
        for document in KUBERNETES
        if document["kind"] in WITH_POD
        for container in document["spec"]["template"]["spec"]["containers"]
    ]
