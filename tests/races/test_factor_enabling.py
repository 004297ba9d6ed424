"""A login while a second factor is enabled is challenged, or its tokens are not valid."""

from functools import partial

import pytest
from django.db import connection

from tests.admin_api.people import promote
from tests.client import PASSWORD
from tests.races.crowd import tally
from tests.twofactor.people import Person

LOGINS = 6  # fewer than the failed ones after which a login is refused


@pytest.fixture
def rounds():
    return range(40 if connection.vendor == "postgresql" else 5)


@pytest.fixture(autouse=True)
def _still(clock):
    """Codes change when a test says so."""


def alive(api, answers):
    """The tokens in these answers that are still valid."""
    issued = [answer.data for answer in answers if "access_token" in answer.data]
    return [
        tokens
        for tokens in issued
        if api.get("me", token=tokens["access_token"]).status == 200
        or api.post("refresh", refresh_token=tokens["refresh_token"]).status == 200
    ]


def test_login_beside_enabling_leaves_no_session_without_the_factor(crowd, api, rounds):
    for number in rounds:
        ann = Person(api, f"ann{number}@example.com").sign_up()
        ann.set_up()
        log_in = partial(api.post, "login", email=ann.email, password=PASSWORD)
        enable = partial(ann.post, "2fa/verify", code=ann.code())

        *entered, enabled = crowd.race([*[log_in] * LOGINS, enable])

        assert (enabled.status, tally(entered)) == (200, {200: LOGINS})
        assert alive(api, entered) == []
        assert ann.get("me").status == 200


def test_login_beside_an_enrolment_on_demand_leaves_no_session_without_the_factor(
    crowd, api, rounds, configure
):
    for number in rounds:
        ann = Person(api, f"ann{number}@example.com").sign_up()
        configure(TWOFACTOR={"REQUIRED": "everybody"}, THROTTLE={"ENABLED": False})
        temp_token = ann.temp_token()
        configure(TWOFACTOR={}, THROTTLE={"ENABLED": False})
        ann.set_up()
        log_in = partial(api.post, "login", email=ann.email, password=PASSWORD)
        enrol = partial(ann.verify_login, ann.code(), temp_token)

        *entered, enrolled = crowd.race([*[log_in] * LOGINS, enrol])

        assert (enrolled.status, tally(entered)) == (200, {200: LOGINS})
        assert alive(api, entered) == []
        assert api.get("me", token=enrolled.data["access_token"]).status == 200


def test_refresh_beside_enabling_leaves_no_session_without_the_factor(crowd, api, rounds):
    for number in rounds:
        ann = Person(api, f"ann{number}@example.com").sign_up()
        other = api.log_in(ann.email)
        ann.set_up()
        refresh = partial(api.post, "refresh", refresh_token=other["refresh_token"])
        enable = partial(ann.post, "2fa/verify", code=ann.code())

        *refreshed, enabled = crowd.race([*[refresh] * LOGINS, enable])

        assert enabled.status == 200
        assert tally(refreshed)[200] <= 1
        assert alive(api, refreshed) == []


def test_setup_beside_the_deletion_of_its_user_is_refused_not_a_crash(crowd, api, rounds):
    for number in rounds:
        ann = Person(api, f"ann{number}@example.com").sign_up()
        boss = Person(api, f"root{number}@example.com").sign_up()
        promote(boss.email)
        delete = partial(api.request, "DELETE", f"admin/users/{ann.user_id}", token=boss.token)

        *made, deleted = crowd.race([*[partial(ann.post, "2fa/setup")] * LOGINS, delete])

        assert deleted.status == 200
        assert set(tally(made)) <= {200, "INVALID_TOKEN"}
