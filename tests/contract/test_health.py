"""The health checks that a project includes below a path of its own."""

import pytest
from django.core.checks import run_checks
from django.test import Client
from django.urls import include, path, reverse

from tests.support.needs import database_server as server

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.urls("tests.contract.test_health"),
]

urlpatterns = [path("healthz", include("authservice.health"))]


@pytest.mark.parametrize("check", ["", "/ready"])
def test_healthy_service_answers_every_check(check):
    answer = Client().get(f"/healthz{check}")

    assert (answer.status_code, answer.json()) == (200, {"status": "ok"})
    assert "no-store" in answer["Cache-Control"]


def test_routes_are_named_and_no_check_of_django_warns_of_them():
    assert (reverse("live"), reverse("ready")) == ("/healthz", "/healthz/ready")
    assert run_checks(tags=["urls"]) == []


@server
def test_service_without_a_database_is_alive_and_not_ready(away):
    away()

    live, ready = Client().get("/healthz"), Client().get("/healthz/ready")

    assert (live.status_code, live.json()) == (200, {"status": "ok"})
    assert (ready.status_code, ready.json()) == (503, {"status": "unavailable"})


@server
def test_service_is_ready_again_once_its_database_is_back(away, monkeypatch):
    away()
    assert Client().get("/healthz/ready").status_code == 503
    monkeypatch.undo()

    assert Client().get("/healthz/ready").status_code == 200


@pytest.mark.parametrize("check", ["", "/ready"])
def test_check_refuses_other_methods(check):
    assert Client().post(f"/healthz{check}").status_code == 405


def test_liveness_queries_no_database(django_assert_num_queries):
    with django_assert_num_queries(0):
        Client().get("/healthz")


@pytest.mark.urls("tests.urls")
def test_checks_are_absent_unless_included():
    assert Client().get("/healthz").status_code == 404
