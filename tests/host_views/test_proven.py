"""`Proven` and `proven`: views of the host project that ask for a level and its age."""

import pytest
from asgiref.sync import async_to_sync
from django.test import AsyncClient, Client

from authservice.decorators import proven
from authservice.permissions import Proven
from tests.host_views.conftest import bearer
from tests.support.client import PASSWORD
from tests.support.statements import statements
from tests.twofactor.people import Person

pytestmark = pytest.mark.django_db

PLAIN = ["/proven-plain", "/proven-later"]
PATHS = ["/proven", *PLAIN]
CHALLENGE = 'Bearer error="insufficient_user_authentication", acr_values="aal2", max_age="600"'


@pytest.fixture(params=[False, True], ids=["alone", "with the middleware"], autouse=True)
def _middleware(request, middleware):
    if request.param:
        middleware()


@pytest.fixture(autouse=True)
def _still(clock):
    """Freezes the clock, so codes change only when a test moves it."""


@pytest.fixture
def person(api, ann, clock) -> Person:
    """A user whose session proved the password only, and who has a second factor."""
    enrolled = Person(api, ann["user"]["email"], ann["access_token"], ann["user"]["id"]).enrol()
    clock.forward(seconds=30)
    return enrolled


def ask(path, token=""):
    headers = bearer({"access_token": token}) if token else {}
    if path == "/proven-later":
        return async_to_sync(AsyncClient().get)(path, headers=headers)
    return Client().get(path, headers=headers)


def step_up(person, acr, **proof):
    (challenge,) = person.post("step-up", acr=acr).data["challenges"]
    temp_token = challenge["data"]["temp_token"]
    return person.post("step-up/verify", temp_token=temp_token, **proof).data["access_token"]


def data_of(answer):
    body = answer.json()
    return body.get("data", body)


@pytest.mark.parametrize("path", PATHS)
def test_session_below_the_level_is_refused_with_what_it_needs(person, path):
    answer = ask(path, person.token)

    data = data_of(answer)
    assert (answer.status_code, data["code"]) == (401, "STEP_UP_REQUIRED")
    # The REST framework turns the details of an error into texts.
    assert (data["acr_values"], str(data["max_age"])) == ("aal2", "600")
    assert answer.headers["WWW-Authenticate"] == CHALLENGE


@pytest.mark.parametrize("path", PATHS)
def test_proof_opens_the_view_for_its_time(person, clock, path):
    token = step_up(person, "aal2", code=person.code())

    assert ask(path, token).status_code == 200
    clock.forward(seconds=540)
    step_up(person, "aal1", password=PASSWORD)  # a weak proof makes no strong one new
    clock.forward(seconds=61)
    assert ask(path, token).status_code == 401


@pytest.mark.parametrize("path", PATHS)
def test_refusal_of_a_user_without_a_method_names_what_to_enrol(ann, path):
    answer = ask(path, ann["access_token"])

    data = data_of(answer)
    assert (answer.status_code, data["code"]) == (403, "STEP_UP_UNAVAILABLE")
    assert data["enrol"] == ["code", "passkey"]


@pytest.mark.parametrize("path", PATHS)
def test_ended_session_is_refused_whatever_requests_check(person, configure, path):
    configure(STATELESS={"CHECK": "signature"})
    token = step_up(person, "aal2", code=person.code())
    assert ask(path, token).status_code == 200
    person.api.post("logout", token=token)

    answer = ask(path, token)
    assert (answer.status_code, data_of(answer)["code"]) == (401, "INVALID_TOKEN")


@pytest.mark.parametrize("path", [*PATHS, "/proven-own"])
def test_request_without_a_token_is_401(path):
    assert ask(path).status_code == 401


def test_own_level_depends_on_the_user(ann, api, clock):
    assert ask("/proven-own", ann["access_token"]).status_code == 200
    person = Person(api, ann["user"]["email"], ann["access_token"], ann["user"]["id"]).enrol()

    assert data_of(ask("/proven-own", person.token))["acr_values"] == "aal2"


@pytest.mark.parametrize("path", PATHS)
def test_it_costs_no_statement_beside_that_of_the_session(person, path):
    token = step_up(person, "aal2", code=person.code())

    assert len(statements(lambda: ask(path, token))) == 1


def test_visitor_of_a_page_is_led_to_the_login(person, settings):
    answer = ask("/proven-page")

    assert answer.status_code == 302
    assert answer.url.startswith(settings.LOGIN_URL)


def test_view_takes_a_function_and_keeps_its_name():
    @proven("phr", max_age=60)
    def transfer(request): ...

    assert transfer.__name__ == "transfer"


@pytest.mark.parametrize("make", [Proven, proven])
@pytest.mark.parametrize(("acr", "age"), [("aal3", 60), ("", 60), ("aal1", 0), ("aal1", -1)])
def test_unknown_level_or_age_is_refused(make, acr, age):
    with pytest.raises(ValueError, match=r"level|age"):
        make(acr, age)
