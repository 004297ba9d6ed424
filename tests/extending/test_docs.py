"""The code of docs/extending.rst does what the page says."""

from types import ModuleType

import pytest
from django.contrib.auth.models import Group

from tests.extending import recipes
from tests.support.client import PASSWORD
from tests.support.people import the_user

pytestmark = pytest.mark.django_db


class Service(ModuleType):
    """The client of another service."""

    risk = 0.0

    def score(self, address):
        assert address == "127.0.0.1"
        return self.risk


@pytest.fixture
def service():
    client = Service("accounts.client")
    with recipes.installed(client=client):
        yield client


@pytest.fixture
def documented(service, configure):
    """The settings of the page."""
    code = recipes.blocks()["settings"]
    values = {}
    exec(code, values)

    def use(**core):
        configure(CORE=core or values["AUTHSERVICE"]["CORE"])

    return use


def test_documented_hooks_refuse_with_their_codes(api, documented):
    documented()

    elsewhere = api.post("signup", email="ann@example.org", password=PASSWORD)
    waiting = api.post("signup", email="ann@example.com", password=PASSWORD)
    the_user().groups.add(Group.objects.create(name="approved"))

    assert (elsewhere.code, waiting.code) == ("EMPLOYEES_ONLY", "NOT_APPROVED")
    assert api.log_in()["user"]["email"] == "ann@example.com"


def test_documented_hook_with_a_service_refuses_by_its_answer(api, documented, service):
    documented(LOGIN_HOOK="accounts.risk.may_log_in", LOGIN_HOOK_PREPARE="accounts.risk.prepare")
    api.sign_up()
    service.risk = 0.95

    answer = api.post("login", email="ann@example.com", password=PASSWORD)

    assert answer.error == (403, "TOO_RISKY")
