"""Runs the tests of `inside` in a project whose tenants are schemas of PostgreSQL."""

import os
from pathlib import Path

import pytest

from tests.hosts.runs import holds
from tests.notification.celery_project import RABBITMQ, REDIS, needs_rabbitmq, needs_redis
from tests.support import needs

HERE = Path(__file__).parent / "inside"


@pytest.mark.slow
@needs.postgresql
@pytest.mark.parametrize(
    ("dispatcher", "broker"),
    [
        ("thread", ""),
        pytest.param("celery", RABBITMQ, marks=needs_rabbitmq),
        pytest.param("celery", REDIS, marks=needs_redis),
    ],
    ids=["thread", "rabbitmq", "redis"],
)
def test_tenants_are_isolated_in_requests_and_jobs(tmp_path, dispatcher, broker):
    queue = f"tenants-{os.getpid()}"
    variables = {"DISPATCHER": dispatcher, "TEST_BROKER": broker, "TEST_QUEUE": queue}
    holds("--ds=tests.tenants.settings", str(HERE), TEST_MAILS=str(tmp_path), **variables)
