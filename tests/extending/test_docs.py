"""The hooks of docs/extending.rst do what the page says."""

from types import ModuleType

import pytest
from django.contrib.auth.models import Group

from tests.support.client import PASSWORD
from tests.support.documented import Page
from tests.support.people import the_user

pytestmark = pytest.mark.django_db

PAGE = Page("extending")


class Service(ModuleType):
    """The client of another service."""

    risk = 0.0

    def score(self, address):
        assert address == "127.0.0.1"
        return self.risk


@pytest.fixture
def service():
    client = Service("accounts.client")
    with PAGE.installed("hooks", "risk", client=client):
        yield client


def test_documented_hooks_refuse_with_their_codes(api, service, configure):
    (hooks,) = [one for one in PAGE.settings() if "LOGIN_HOOK" in one["AUTHSERVICE"]["CORE"]]
    configure(**hooks["AUTHSERVICE"])

    elsewhere = api.post("signup", email="ann@example.org", password=PASSWORD)
    waiting = api.post("signup", email="ann@example.com", password=PASSWORD)
    the_user().groups.add(Group.objects.create(name="approved"))

    assert (elsewhere.code, waiting.code) == ("EMPLOYEES_ONLY", "NOT_APPROVED")
    assert api.log_in()["user"]["email"] == "ann@example.com"


def test_documented_hook_with_a_service_refuses_by_its_answer(api, service, configure):
    hooks = {"LOGIN_HOOK": "may_log_in", "LOGIN_HOOK_PREPARE": "prepare"}
    configure(CORE={name: f"accounts.risk.{value}" for name, value in hooks.items()})
    api.sign_up()
    service.risk = 0.95

    answer = api.post("login", email="ann@example.com", password=PASSWORD)

    assert answer.error == (403, "TOO_RISKY")
