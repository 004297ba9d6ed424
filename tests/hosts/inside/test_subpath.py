"""Under a path of the server's, links lead back through it, and cookies are for all of the host."""

import re

import pytest
from django.conf import settings
from django.test import Client
from django.test.testcases import TestCase
from django.urls import reverse

from authservice.testing import mailbox
from tests.client import PASSWORD

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.skipif(settings.FORCE_SCRIPT_NAME != "/app", reason="this host is at the root"),
]


@pytest.fixture
def letters(api):
    with mailbox() as box:
        with TestCase.captureOnCommitCallbacks(execute=True):
            api.sign_up()
        yield box


def test_the_project_itself_counts_the_prefix_in():
    Client().get("/auth/me")

    assert reverse("authservice:login") == "/app/auth/login"


def test_a_mailed_link_leads_through_the_prefix_once(letters):
    assert letters.last_link.startswith("http://testserver/app/auth/verify-email?token=")


def test_the_link_works_where_the_server_cuts_the_prefix_off(letters):
    path = letters.last_link.removeprefix("http://testserver/app")

    assert Client().get(path).json()["data"]["status"] == "success"


def test_a_cookie_is_sent_wherever_the_service_is_mounted(api):
    api.sign_up()
    answer = api.post("login", email="ann@example.com", password=PASSWORD)

    paths = {morsel["path"] for morsel in answer.response.cookies.values()}
    assert paths == {"/"}


def test_no_path_of_the_host_shows_in_a_refusal(api):
    assert not re.search("/app", api.get("nowhere").response.content.decode())
