"""Below a URL prefix of the server, links contain the prefix and cookies have the path "/"."""

import re

import pytest
from django.conf import settings
from django.test import Client
from django.test.testcases import TestCase
from django.urls import reverse

from authservice.testing import mailbox
from tests.support.client import PASSWORD

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.skipif(settings.FORCE_SCRIPT_NAME != "/app", reason="this host is at the root"),
]


@pytest.fixture
def box_of_signup(api):
    with mailbox() as box:
        with TestCase.captureOnCommitCallbacks(execute=True):
            api.sign_up()
        yield box


def test_reversed_urls_contain_the_prefix():
    Client().get("/auth/me")

    assert reverse("authservice:login") == "/app/auth/login"


def test_mailed_link_contains_the_prefix_once(box_of_signup):
    assert box_of_signup.last_link.startswith("http://testserver/app/auth/verify-email?token=")


def test_mailed_link_works_if_the_server_removes_the_prefix(box_of_signup):
    path = box_of_signup.last_link.removeprefix("http://testserver/app")

    assert Client().get(path).json()["data"]["status"] == "success"


def test_cookie_has_the_root_path(api):
    api.sign_up()
    answer = api.post("login", email="ann@example.com", password=PASSWORD)

    paths = {morsel["path"] for morsel in answer.response.cookies.values()}
    assert paths == {"/"}


def test_refusal_does_not_contain_the_prefix(api):
    assert not re.search("/app", api.get("nowhere").response.content.decode())
