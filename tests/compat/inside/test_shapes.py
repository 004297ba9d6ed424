"""Each answer has the status, the keys and the texts of the answer of simplejwt itself."""

import pytest
from django.test import Client
from django.urls import reverse

from tests.compat.inside.old import OURS, THEIRS, OldClient
from tests.support.client import PASSWORD
from tests.support.people import deactivate

pytestmark = pytest.mark.django_db

WRONG = "eyJhbGciOiJIUzI1NiJ9.eyJ1c2VyX2lkIjoxfQ.AAAA"


def obtain(client):
    return client.obtain()


def refresh(client):
    return client.refresh(client.obtain().body["refresh"])


def verify_access(client):
    return client.verify(client.obtain().body["access"])


def verify_refresh(client):
    return client.verify(client.obtain().body["refresh"])


def blacklist(client):
    return client.blacklist(client.obtain().body["refresh"])


ACCEPTED = [obtain, refresh, verify_access, verify_refresh, blacklist]


def wrong_password(client):
    return client.obtain(password="another plum 43")


def unknown_user(client):
    return client.obtain("nobody")


def inactive_user(client):
    deactivate()
    return client.obtain()


def missing_fields(client):
    return client.send("POST", "token/", {})


def blank_fields(client):
    return client.obtain("", "")


def missing_refresh(client):
    return client.send("POST", "token/refresh/", {})


def missing_token(client):
    return client.send("POST", "token/verify/", {})


def malformed_refresh(client):
    return client.refresh("nothing")


def forged_refresh(client):
    return client.refresh(WRONG)


def access_as_refresh(client):
    return client.refresh(client.obtain().body["access"])


def malformed_token(client):
    return client.verify("nothing")


def forged_token(client):
    return client.verify(WRONG)


def blacklisted_refresh(client):
    token = client.obtain().body["refresh"]
    client.blacklist(token)
    return client.refresh(token)


def blacklisted_twice(client):
    token = client.obtain().body["refresh"]
    client.blacklist(token)
    return client.blacklist(token)


def verify_blacklisted_access(client):
    """simplejwt accepts such a token; the session here has ended."""
    both = client.obtain().body
    client.blacklist(both["refresh"])
    return client.verify(both["access"])


def get(client):
    return client.send("GET", "token/", "")


def broken_json(client):
    return client.send("POST", "token/", "{")


def not_an_object(client):
    return client.send("POST", "token/", [])


REFUSED = [
    *(wrong_password, unknown_user, inactive_user, missing_fields, blank_fields),
    *(missing_refresh, missing_token, malformed_refresh, forged_refresh, access_as_refresh),
    *(malformed_token, forged_token, blacklisted_refresh, blacklisted_twice),
    *(get, broken_json),
]


def kinds(body):
    return {name: type(value) for name, value in body.items()}


@pytest.mark.parametrize("request_of", ACCEPTED, ids=lambda case: case.__name__)
def test_answer_has_the_shape_of_simplejwt(ann, request_of):
    ours, theirs = request_of(OldClient(OURS)), request_of(OldClient(THEIRS))

    assert ours.status == theirs.status == 200
    assert kinds(ours.body) == kinds(theirs.body)


@pytest.mark.parametrize("request_of", REFUSED, ids=lambda case: case.__name__)
def test_refusal_has_the_shape_of_simplejwt(ann, request_of):
    ours, theirs = request_of(OldClient(OURS)), request_of(OldClient(THEIRS))

    assert ours.status == theirs.status
    assert set(theirs.body) <= set(ours.body)
    assert {*ours.body} - {*theirs.body} <= {"code"}
    if ours.status == 401:
        assert ours.response["WWW-Authenticate"] == theirs.response["WWW-Authenticate"]


@pytest.mark.parametrize(
    "request_of",
    [wrong_password, unknown_user, inactive_user, missing_fields, blank_fields, missing_token],
    ids=lambda case: case.__name__,
)
def test_refusal_has_the_text_of_simplejwt(ann, request_of):
    ours, theirs = request_of(OldClient(OURS)).body, request_of(OldClient(THEIRS)).body

    assert {name: ours[name] for name in theirs} == theirs


@pytest.mark.parametrize(
    "request_of",
    [malformed_refresh, forged_refresh, malformed_token, verify_blacklisted_access],
    ids=lambda case: case.__name__,
)
def test_refused_token_has_the_code_of_simplejwt(ann, client, request_of):
    assert (request_of(client).status, request_of(client).code) == (401, "token_not_valid")


def test_body_that_is_no_object_is_refused(ann, client):
    assert not_an_object(client).status == 400
    assert set(not_an_object(client).body) == {"detail", "code"}


def test_form_is_accepted_as_by_simplejwt(ann):
    body = f"username=ann&password={PASSWORD.replace(' ', '+')}"
    answers = [OldClient(at).send("POST", "token/", body, form=True) for at in (OURS, THEIRS)]

    assert [answer.status for answer in answers] == [200, 200]


def test_multipart_is_refused_with_the_types_that_are_accepted(ann):
    body = {"username": "ann", "password": PASSWORD}
    answer = Client().post(f"{OURS}token/", body)  # Django's client sends multipart/form-data

    assert answer.status_code == 415
    assert answer.json()["code"] == "UNSUPPORTED_MEDIA_TYPE"
    assert "application/x-www-form-urlencoded" in answer.json()["detail"]


def test_paths_have_the_names_of_the_documentation_of_simplejwt():
    assert reverse("token_obtain_pair") == "/api/token/"
    assert reverse("token_refresh") == "/api/token/refresh/"
    assert reverse("token_verify") == "/api/token/verify/"
    assert reverse("token_blacklist") == "/api/token/blacklist/"
