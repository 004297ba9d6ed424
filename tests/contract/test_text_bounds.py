"""No text that a route reads costs much CPU time, and a text that is too long is refused with
the reason."""

import json

import pytest
from django.test import RequestFactory

from authservice.core.models import Account
from authservice.kernel.modules import plugged
from tests.contract.shapes import is_refusal
from tests.support.client import PASSWORD, csrf_pair
from tests.support.expensive_texts import LONG, MARKS
from tests.support.long_texts import BODIES, Service, places
from tests.support.modules import fillers

pytestmark = pytest.mark.django_db

# Five times the allowed time, since the machine may be busy; the attack costs twenty times as much.
SECONDS = 0.25
PLACES = places()
ROW = "a" + "\N{COMBINING ACUTE ACCENT}"


@pytest.fixture(autouse=True)
def _not_limited(configure):
    configure(THROTTLE={"ENABLED": False})
    # Some routes refuse at once without a module that sends mail.
    with plugged("messenger", fillers.messenger):
        yield


@pytest.fixture
def token_for(api):
    def token_for(place):
        if place.route.public:
            return ""
        token = api.sign_up()["access_token"]
        Account.objects.update(is_super_admin=True)
        return token

    return token_for


@pytest.mark.parametrize("place", PLACES, ids=str)
def test_no_text_costs_much_cpu_time(place, token_for):
    service, token = Service(), token_for(place)
    costs = {}
    for name, text in place.texts():
        costs[name], answer = service.answer(place.request(text, token=token))
        assert answer.status_code < 500

    assert max(costs.values()) < SECONDS, costs


@pytest.mark.parametrize("place", [it for it in PLACES if it.where == "body"], ids=str)
def test_no_shape_of_json_costs_much_cpu_time(place, token_for):
    service, token = Service(), token_for(place)
    costs = {}
    for name, body in BODIES.items():
        request = place.request_of(body % place.name.encode(), token=token)
        costs[name], answer = service.answer(request)
        assert answer.status_code < 500

    assert max(costs.values()) < SECONDS, costs


@pytest.mark.parametrize(
    "header",
    ["X-Device-Token", "X-Request-ID", "User-Agent", "X-Forwarded-For", "Accept-Language"],
)
def test_no_header_costs_much_cpu_time(configure, header):
    configure(THROTTLE={"ENABLED": False}, TRUSTED_PROXIES=1)
    costs = {
        name: login(name, **{header: text.encode().decode("latin-1")})
        for name, text in LONG.items()
    }

    assert max(costs.values()) < SECONDS, costs


@pytest.mark.parametrize("cookie", ["authservice_device", "authservice_refresh", "__service_csrf"])
def test_no_cookie_costs_much_cpu_time(cookie):
    assert login("ann", Cookie=f"{cookie}={'a' * 62_000}") < SECONDS


def login(username, **headers):
    """The seconds that a login of an unknown user with these headers costs."""
    body = {"username": username, "password": PASSWORD}
    request = RequestFactory().generic(
        "POST",
        "/auth/login",
        json.dumps(body),
        content_type="application/json",
        headers=csrf_pair(headers),
    )
    seconds, answer = Service().answer(request)
    assert answer.status_code == 401
    return seconds


# Of the provider, for people to read: never a reason to refuse a login.
DECORATION = {
    "GET /oauth/{provider}/callback query error",
    "POST /oauth/{provider}/callback body error",
    "POST /oauth/{provider}/callback body user",
}


@pytest.mark.parametrize("place", PLACES, ids=str)
def test_too_many_combining_marks_are_refused_with_the_field_name(place, token_for):
    _, answer = Service().answer(place.request(MARKS, token=token_for(place)))

    assert answer.status_code == 400
    said = json.loads(answer.content)["data"]
    if str(place) in DECORATION:
        assert said["code"] == "OAUTH_INVALID_STATE"
    elif said["code"] not in ("INVALID_TOKEN", "INVALID_VERIFICATION_TOKEN"):  # of an invalid link
        assert (said["code"], said["message"].partition(":")[0]) == ("VALIDATION_ERROR", place.name)


@pytest.mark.parametrize("marks", [30, 31])
def test_thirty_combining_marks_in_a_row_are_the_maximum(api, marks):
    name = "a" + "\N{COMBINING GRAVE ACCENT BELOW}" * marks

    answer = api.post("signup", email="ann@example.com", password="plum tart 42", name=name)

    if marks == 30:
        assert answer.status == 201
    else:
        assert is_refusal(answer, 400, "VALIDATION_ERROR")
        rule = "name: Must not contain more than 30 combining marks in a row."
        assert answer.data["message"] == rule


def test_combining_marks_are_counted_anew_after_each_letter(api):
    name = ("a" + "\N{COMBINING GRAVE ACCENT BELOW}" * 30) * 3

    assert api.sign_up(name=name)["user"]["name"] == name


def test_combining_marks_of_a_password_are_counted(api):
    password = "plum tart 42" + "\N{COMBINING ACUTE ACCENT}" * 31

    answer = api.post("signup", email="ann@example.com", password=password)

    assert answer.data["message"].startswith("password: Must not contain more than 30")


@pytest.mark.parametrize(("letters", "status"), [(255, 201), (256, 400)])
def test_text_length_is_checked_before_normalisation(api, letters, status):
    """The decomposed form counts, although its composed form is half as long."""
    name = (ROW * 128)[:letters]

    answer = api.post("signup", email="ann@example.com", password="plum tart 42", name=name)

    assert answer.status == status
    if status == 400:
        rule = "name: Ensure this field has no more than 255 characters."
        assert answer.data["message"] == rule


def test_text_length_is_checked_again_after_normalisation(api):
    name = "\N{HEBREW LETTER SHIN WITH DAGESH AND SHIN DOT}" * 255  # three times as many in NFC

    answer = api.post("signup", email="ann@example.com", password="plum tart 42", name=name)

    assert is_refusal(answer, 400, "VALIDATION_ERROR")


def test_text_length_ignores_surrounding_spaces(api):
    assert api.sign_up(name=" " * 300 + "Ann" + " " * 300)["user"]["name"] == "Ann"
