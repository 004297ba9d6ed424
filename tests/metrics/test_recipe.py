"""The blocks of the page, in a project with real servers: a page that is scraped, and processes
that send their numbers."""

import os
import sys
from collections import Counter
from contextlib import contextmanager
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest
from prometheus_client.parser import text_string_to_metric_families

from tests.hosts.servers import own_database
from tests.notification.servers import Gateway, Sink
from tests.snippets.blocks import of_page
from tests.support.client import PASSWORD
from tests.support.ports import free_port
from tests.support.processes import environment, output_of, started, wait_for

BLOCKS = [block.code for block in of_page("docs/running/metrics.rst")]
MAIL = "ann@example.com"


def block(text):
    (code,) = [it for it in BLOCKS if text in it]
    return code


@contextmanager
def project(folder, *options, urls, **variables):
    """The example project with the blocks of the page; yields its origin and its process."""
    package = folder / "project"
    package.mkdir()
    for name in ("metrics", "urls"):
        (package / f"{name}.py").write_text(block(f"# project/{name}.py"))
    (package / "settings.py").write_text(
        "from example_project.settings import *\n"
        "from tests.snippets.project import NoMigrations\n"
        "MIGRATION_MODULES = NoMigrations()  # tables from the models, which takes less time\n"
        f"{block('# settings.py')}\nROOT_URLCONF = '{urls}'\n"
    )
    (folder / "gunicorn.conf.py").write_text(block("# gunicorn.conf.py"))
    port, log = free_port(), folder / "server.log"
    with own_database("metrics", folder) as url, Sink() as sink:
        given = {
            "AUTHSERVICE_API_URL": f"http://127.0.0.1:{port}",
            "AUTHSERVICE_MODULES": "notification",
            "DATABASE_URL": url,
            "DEBUG": "0",
            "DJANGO_SETTINGS_MODULE": "project.settings",
            "EMAIL_URL": f"smtp://127.0.0.1:{sink.port}",
            "SECRET_KEY": "a secret of the tests, long enough to be a key",
            **variables,
        }
        given = environment(**given)
        given["PYTHONPATH"] = f"{folder}{os.pathsep}{given['PYTHONPATH']}"
        output_of(
            sys.executable, "-m", "django", "migrate", "--run-syncdb", "-v", "0", variables=given
        )
        command = ("-m", "gunicorn", f"--bind=127.0.0.1:{port}", "--threads=4", *options)
        command += ("django.core.wsgi:get_wsgi_application()",)
        with started(*command, log=log, variables=given, folder=folder) as process:
            origin = f"http://127.0.0.1:{port}"
            wait_for(lambda: read(f"{origin}/auth/.well-known/jwks.json"), log)
            yield origin, process


def read(url, body=None):
    headers = {"Content-Type": "application/json"}
    with urlopen(Request(url, body, headers), timeout=30) as response:
        return response.read().decode()


def scraped(origin):
    """The value of each series: its name and the labels of ours."""
    found = Counter()
    for family in text_string_to_metric_families(read(f"{origin}/metrics")):
        for sample in family.samples:
            labels = {k: v for k, v in sample.labels.items() if not k.startswith("otel_")}
            found[sample.name, tuple(sorted(labels.items()))] += sample.value
    return found


def test_page_of_the_recipe_is_scraped(tmp_path):
    with project(tmp_path, "--config=/dev/null", urls="project.urls") as (origin, _):
        read(f"{origin}/metrics")  # the provider is set with the first request at the latest
        body = f'{{"email": "{MAIL}", "password": "{PASSWORD}"}}'.encode()
        read(f"{origin}/auth/signup", body)
        read(f"{origin}/auth/login", body)
        with pytest.raises(HTTPError, match="401") as refused:
            read(f"{origin}/auth/login", body.replace(b"@", b".x@"))
        refused.value.close()
        found = scraped(origin)

    succeeded = (("method", "password"), ("outcome", "success"))
    assert found["authservice_logins_total", (*succeeded, ("reason", ""))] == 1
    failed = (("method", "password"), ("outcome", "failed"), ("reason", "invalid_credentials"))
    assert found["authservice_logins_total", failed] == 1
    hashed = (("outcome", "hashed"),)
    assert found["authservice_password_hash_wait_seconds_count", hashed] == 3
    assert MAIL not in str(found)


@pytest.mark.slow
def test_each_process_of_the_recipe_sends_its_numbers(tmp_path):
    from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
        ExportMetricsServiceRequest,
    )

    with Gateway() as collector:
        endpoint = {"OTEL_EXPORTER_OTLP_METRICS_ENDPOINT": f"{collector.url}/v1/metrics"}
        options = ("--config=gunicorn.conf.py", "--workers=2")
        with project(tmp_path, *options, urls="example_project.urls", **endpoint) as (origin, _):
            body = f'{{"email": "{MAIL}", "password": "{PASSWORD}"}}'.encode()
            read(f"{origin}/auth/signup", body)
            for _ in range(6):
                read(f"{origin}/auth/login", body)

    logins = Counter()  # by process; a later request of one has all of its logins
    for _, path, _, sent in collector.requests:
        assert path == "/v1/metrics"
        for group in ExportMetricsServiceRequest.FromString(sent).resource_metrics:
            attributes = {it.key: it.value.string_value for it in group.resource.attributes}
            for metric in (it for scope in group.scope_metrics for it in scope.metrics):
                if metric.name == "authservice.logins":
                    logins[attributes["service.instance.id"]] = sum(
                        int(point.as_int) for point in metric.sum.data_points
                    )
    assert sum(logins.values()) == 6
    assert MAIL not in str(collector.requests)
