"""The files of the deployment give nobody more than they need: headers, ports and secrets."""

import json
import os
import re
import shlex
import subprocess
import sys
from contextlib import closing
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest
import yaml

from tests.faults.cache import Redis
from tests.hosts.runs import ROOT
from tests.machines.programs import DEPLOYMENT, REDIS_PASSWORD, HAProxy, at, missing, wait_until
from tests.snippets.blocks import of_page
from tests.support.ports import free_port
from tests.support.processes import environment, output_of

COMPOSE = yaml.safe_load((DEPLOYMENT / "compose.yaml").read_text())
SERVICES = COMPOSE["services"]
KUBERNETES = list(yaml.safe_load_all((DEPLOYMENT / "kubernetes.yaml").read_text()))
WEB, WORKERS = {"one", "two"}, {"worker-one", "worker-two"}
TASKS = {"keys", "migrate", "clean-up"}
POSTGRESQL, REDIS = {"postgresql-one", "postgresql-two"}, {"redis-one", "redis-two"}
SENTINELS = {"sentinel-one", "sentinel-two", "sentinel-three"}
OF_THE_SERVICE = WEB | WORKERS | TASKS
# Which programs may have a secret.
USED_BY = {
    "SECRET_KEY": OF_THE_SERVICE,
    "DATABASE_URL": OF_THE_SERVICE,
    "CACHE_URL": OF_THE_SERVICE,
    "CELERY_BROKER_URL": OF_THE_SERVICE,
    "SMS_WEBHOOK_URL": OF_THE_SERVICE,
    "EMAIL_URL": WORKERS,
    "POSTGRES_PASSWORD": POSTGRESQL,
    "REPLICATION_PASSWORD": POSTGRESQL,
    "SHOP_PASSWORD": {*POSTGRESQL, "pgbouncer"},
    "REDIS_PASSWORD": {*REDIS, *SENTINELS, "haproxy"},
    "RABBITMQ_DEFAULT_USER": {"rabbitmq"},
    "RABBITMQ_DEFAULT_PASS": {"rabbitmq"},
}
SCRIPT = next(
    block.code for block in of_page("docs/running/deployment.rst") if "compose up" in block.code
)


@pytest.fixture(scope="module")
def secrets(tmp_path_factory):
    """The variables of each file that the commands of the page write."""
    folder = tmp_path_factory.mktemp("secrets")
    written = "\n".join(
        line for line in SCRIPT.splitlines() if not line.startswith(("cd ", "docker "))
    )
    subprocess.run(["bash", "-euc", written], cwd=folder, check=True)
    files = {file.name: file.read_text() for file in folder.iterdir()}
    assert {file.stat().st_mode & 0o077 for file in folder.iterdir()} == {0}
    return {
        name: dict(line.split("=", 1) for line in text.splitlines()) for name, text in files.items()
    }


def test_each_secret_is_known_only_where_it_is_used(secrets):
    known = {}
    for name, service in SERVICES.items():
        for file in service.get("env_file", []):
            for variable in secrets[file]:
                known.setdefault(variable, set()).add(name)

    assert known == USED_BY


def test_no_secret_is_in_the_file_or_in_arguments(secrets):
    text = (DEPLOYMENT / "compose.yaml").read_text()

    assert set(re.findall(r"(?<!\$)\$\{?(\w+)", text)) == set()
    assert "guest" not in text
    for variables in secrets.values():
        for name, value in variables.items():
            assert name == "RABBITMQ_DEFAULT_USER" or value not in text


def test_databases_have_passwords_that_are_not_the_default(secrets):
    assert re.fullmatch(r"redis://:\w{48}@haproxy:6379/1", secrets["service.env"]["CACHE_URL"])
    assert secrets["redis.env"]["REDIS_PASSWORD"] in secrets["service.env"]["CACHE_URL"]
    broker = secrets["rabbitmq.env"]
    user, password = broker["RABBITMQ_DEFAULT_USER"], broker["RABBITMQ_DEFAULT_PASS"]
    assert f"//{user}:{password}@" in secrets["service.env"]["CELERY_BROKER_URL"]
    assert secrets["postgresql.env"]["SHOP_PASSWORD"] in secrets["service.env"]["DATABASE_URL"]
    assert "guest" not in broker.values()
    passwords = [each for file in secrets.values() for each in file.values()]
    assert all(len(password) > 20 for name, password in broker.items() if "PASS" in name)
    assert len(passwords) == len(set(passwords)) + 1  # the role "shop" has one password


def of_compose(name, secrets):
    service = SERVICES[name]
    given = {key: str(value) for key, value in service["environment"].items()}
    for file in service["env_file"]:
        given |= secrets[file]
    return given


def of_kubernetes(name, secrets):
    by_name = {
        document["metadata"]["name"]: document.get("data") or document.get("stringData")
        for document in KUBERNETES
        if document["kind"] in ("ConfigMap", "Secret")
    }
    names = ["shop", "shop-mail"] if name == "worker-one" else ["shop"]
    config = next(each for each in KUBERNETES if each["kind"] == "ConfigMap")["data"]
    given = dict(config)
    for secret in names:
        given |= by_name[secret]
    return {**given, "SECRET_KEY": secrets["service.env"]["SECRET_KEY"]}


# Each file and each program once. The other two pairs are slow, since each is a process.
@pytest.mark.parametrize(
    ("variables", "name"),
    [
        (of_compose, "one"),
        (of_kubernetes, "worker-one"),
        pytest.param(of_compose, "worker-one", marks=pytest.mark.slow),
        pytest.param(of_kubernetes, "one", marks=pytest.mark.slow),
    ],
)
def test_settings_of_the_deployment_pass_the_deployment_check(secrets, tmp_path, variables, name):
    given = variables(name, secrets)
    if name == "one":
        given["SIGNING_KEYS_FILE"] = str(tmp_path / "keys.json")
        (tmp_path / "keys.json").write_text("[]")
    folders = os.pathsep.join(map(str, (ROOT, DEPLOYMENT)))
    given |= {"DJANGO_SETTINGS_MODULE": "service.settings", "PYTHONPATH": folders}
    command = ("check", "--deploy", "--fail-level", "WARNING")
    shown = output_of(
        *(sys.executable, "example_project/manage.py", *command),
        variables={**environment(), **given},
        folder=ROOT,
    )

    assert "WARNINGS" not in shown


def test_ports_are_published_on_the_loopback_address_only():
    ports = {name: service["ports"] for name, service in SERVICES.items() if "ports" in service}

    assert ports == {"haproxy": ["127.0.0.1:8000:8000"]}


def test_proxies_are_trusted_by_their_network():
    [network] = COMPOSE["networks"]["default"]["ipam"]["config"]

    assert SERVICES["one"]["environment"]["AUTHSERVICE_TRUSTED_PROXIES"] == network["subnet"]
    assert SERVICES["haproxy"]["environment"]["BALANCERS"] == network["gateway"]


def test_signing_keys_are_for_the_web_servers_alone():
    with_keys = {
        name
        for name, service in SERVICES.items()
        if any(volume.startswith("keys:") for volume in service.get("volumes", []))
    }
    command = SERVICES["keys"]["command"]

    assert with_keys == {*WEB, "keys"}
    assert "umask 077" in command
    assert re.findall(r"chmod (\d+)", command) == ["400"]


def test_image_contains_no_file_with_a_secret():
    ignored = (DEPLOYMENT / "Dockerfile.dockerignore").read_text().splitlines()

    assert "**/*.env" in ignored
    assert "/docs/running/deployment/*.env" in (ROOT / ".gitignore").read_text().splitlines()


def templates():
    """The pods of Kubernetes by name."""
    for document in KUBERNETES:
        spec = document.get("spec", {})
        spec = spec.get("jobTemplate", {}).get("spec", spec)
        if "template" in spec:
            yield document["metadata"]["name"], spec["template"]


def test_each_pod_of_kubernetes_gets_only_its_own_secrets():
    given = {}
    for name, template in templates():
        [container] = template["spec"]["containers"]
        names = {
            source["secretRef"]["name"] for source in container["envFrom"] if "secretRef" in source
        }
        for volume in template["spec"].get("volumes", []):
            assert volume["secret"]["defaultMode"] & 0o007 == 0
            names.add(volume["secret"]["secretName"])
        given[name] = names

    assert given == {
        "web": {"shop", "signing-keys"},
        "worker": {"shop", "shop-mail"},
        "migrate": {"shop"},
        "clean-up": {"shop"},
    }


def test_pods_are_not_root_and_have_no_rights_in_the_cluster():
    for _, template in templates():
        assert template["spec"]["automountServiceAccountToken"] is False
        assert template["spec"]["securityContext"]["runAsNonRoot"] is True


def selects(policy, labels):
    selector = policy["spec"]["podSelector"]
    by_value = selector.get("matchLabels", {}).items() <= labels.items()
    by_rule = all(
        labels.get(rule["key"]) in rule["values"] for rule in selector.get("matchExpressions", [])
    )
    return by_value and by_rule


def test_only_the_ingress_controller_reaches_a_pod():
    policies = [document for document in KUBERNETES if document["kind"] == "NetworkPolicy"]

    for name, template in templates():
        [policy] = [each for each in policies if selects(each, template["metadata"]["labels"])]
        rules = policy["spec"].get("ingress", [])
        assert policy["spec"]["policyTypes"] == ["Ingress"]
        if name != "web":
            assert rules == []
            continue
        [rule] = rules
        assert rule["ports"] == [{"port": 8000}]
        assert rule["from"] == [
            {"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "ingress-nginx"}}}
        ]


needs_haproxy = pytest.mark.skipif("haproxy" in missing(), reason="HAProxy is not installed")


class Echo(BaseHTTPRequestHandler):
    """Answers with the path and the headers that it got."""

    def do_GET(self):
        headers = [[name.lower(), value] for name, value in self.headers.items()]
        body = json.dumps([self.path, headers]).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_POST = do_GET  # noqa: N815 the name that the base class calls

    def log_message(self, *_):
        """Log nothing."""


@pytest.fixture(scope="module")
def backend():
    server = ThreadingHTTPServer(("127.0.0.1", 0), Echo)
    Thread(target=server.serve_forever, daemon=True).start()
    yield server.server_port
    server.shutdown()
    server.server_close()


@pytest.fixture(scope="module", params=["127.0.0.1", "192.0.2.1 127.0.0.1", "192.0.2.1"])
def proxy(request, backend, tmp_path_factory):
    """HAProxy with the shipped file; whether it takes the client for a load balancer."""
    folder = tmp_path_factory.mktemp("haproxy")
    unused = {
        name: at(free_port())
        for name in ("SERVICE_TWO", "POSTGRESQL_ONE", "POSTGRESQL_TWO", "REDIS_ONE", "REDIS_TWO")
    }
    haproxy = HAProxy(folder, SERVICE_ONE=at(backend), BALANCERS=request.param, **unused)
    try:
        haproxy.wait_for("service", "one")
        yield haproxy, "127.0.0.1" in request.param
    finally:
        haproxy.stop()


def ask(haproxy, path, method="GET", **headers):
    with closing(HTTPConnection("127.0.0.1", haproxy.web, timeout=10)) as connection:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        connection.request(method, path, headers=named)
        answer = connection.getresponse()
        text = answer.read()
        return answer.status, json.loads(text) if answer.status == 200 else text


FORGED = {
    "X_Forwarded_For": "203.0.113.9",
    "X_Forwarded_Proto": "https",
    "Forwarded": "for=203.0.113.9;proto=https",
    "X_Forwarded_Host": "evil.example",
    "X_Forwarded_Port": "1",
    "X_Real_IP": "203.0.113.9",
}


@needs_haproxy
def test_forwarding_headers_are_those_of_the_load_balancer(proxy):
    haproxy, is_balancer = proxy
    _, (_, headers) = ask(haproxy, "/auth/login", **FORGED)
    forwarded = [(name, value) for name, value in headers if "forwarded" in name or "real" in name]

    assert sorted(forwarded) == (
        [
            ("x-forwarded-for", "127.0.0.1"),
            ("x-forwarded-for", "203.0.113.9"),
            ("x-forwarded-proto", "https"),
        ]
        if is_balancer
        else [("x-forwarded-for", "127.0.0.1"), ("x-forwarded-proto", "http")]
    )
    # Servers join the lines: the address that HAProxy adds is the last one.
    assert [value for name, value in forwarded if name == "x-forwarded-for"][-1] == "127.0.0.1"


@needs_haproxy
@pytest.mark.parametrize(
    "path",
    [
        "/auth/logi%6e",
        "/auth/signu%70",
        "/auth/reset-passwor%64",
        "/auth/%6Cogin",
        "/%61uth/login",
        "/%61uth%2Flogin",
        "/auth/login%2F",
        "/auth/login%00",
        "/auth/%2e%2e/auth/login",
        "/auth/%",
    ],
)
def test_path_of_the_service_with_an_escape_is_denied(proxy, path):
    assert ask(proxy[0], path, "POST")[0] == 404


@needs_haproxy
@pytest.mark.parametrize(
    "path", ["/auth/login", "/auth/verify-email?token=a%2Bb", "/admin/x/%5F1/change/"]
)
def test_other_path_is_passed_on_as_it_was_sent(proxy, path):
    status, (sent, _) = ask(proxy[0], path)

    assert (status, sent) == (200, path)


@needs_haproxy
@pytest.mark.parametrize("path", ["login", "login/", "signup", "change-password", "reset-password"])
def test_request_that_hashes_a_password_waits_in_its_queue(proxy, path):
    haproxy, _ = proxy

    def passed():
        rows = haproxy.command("show stat").splitlines()
        [row] = [row for row in rows if row.startswith("passwords,BACKEND,")]
        return int(row.split(",")[7])  # the number of sessions so far

    before = passed()
    ask(haproxy, f"/auth/{path}", "POST")

    assert passed() == before + 1


@needs_haproxy
def test_configuration_of_haproxy_is_valid(tmp_path):
    variables = {**SERVICES["haproxy"]["environment"], "REDIS_PASSWORD": "x"}
    # Names of containers are not found here.
    variables |= {
        name: re.sub(r"^[\w-]+:", "127.0.0.1:", str(value)) for name, value in variables.items()
    }
    done = subprocess.run(
        ["haproxy", "-c", "-f", DEPLOYMENT / "haproxy.cfg"],
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stderr
    assert "warning" not in done.stderr.lower()


@pytest.mark.skipif(bool(missing()), reason="HAProxy or Redis is not installed")
@pytest.mark.parametrize("password", [REDIS_PASSWORD, "another"])
def test_haproxy_asks_redis_with_the_password(backend, tmp_path, password):
    redis = Redis(tmp_path, password)
    others = {
        name: at(free_port())
        for name in ("SERVICE_TWO", "POSTGRESQL_ONE", "POSTGRESQL_TWO", "REDIS_TWO")
    }
    haproxy = HAProxy(tmp_path, SERVICE_ONE=at(backend), REDIS_ONE=at(redis.port), **others)
    try:
        haproxy.wait_for("service", "one")
        if password == REDIS_PASSWORD:
            haproxy.wait_for("redis", "one")
        else:
            wait_until(lambda: not haproxy.is_up("redis", "one"), "the check fails")
    finally:
        haproxy.stop()
        redis.kill()


@pytest.mark.skipif(bool(missing()), reason="Redis is not installed")
@pytest.mark.parametrize("name", sorted(REDIS))
def test_command_of_redis_requires_the_password(name):
    _, _, script = shlex.split(SERVICES[name]["command"].replace("$$", "$"))
    shown = script.replace("exec redis-server -", "cat")
    done = subprocess.run(
        ["sh", "-c", shown],
        env={"REDIS_PASSWORD": "a-password", "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=True,
    )
    lines = done.stdout.splitlines()

    assert lines[:2] == ["requirepass a-password", "masterauth a-password"]
    assert ("replicaof redis-one 6379" in lines) == (name == "redis-two")
