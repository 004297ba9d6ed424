"""A login while a second factor is enabled is challenged, or its tokens are not valid."""

from functools import partial

import pytest
from django.db import connection

from tests.admin_api.people import promote
from tests.races.crowd import tally
from tests.support.client import PASSWORD
from tests.twofactor.people import Person

LOGINS = 6  # fewer than the limit of attempts


@pytest.fixture
def rounds():
    return range(40 if connection.vendor == "postgresql" else 5)


@pytest.fixture(autouse=True)
def _still(clock):
    """Freezes the time, so that TOTP codes change only when a test forwards it."""


def alive(api, answers):
    """The tokens in these answers that are still valid."""
    issued = [answer.data for answer in answers if "access_token" in answer.data]
    return [
        tokens
        for tokens in issued
        if api.get("me", token=tokens["access_token"]).status == 200
        or api.post("refresh", refresh_token=tokens["refresh_token"]).status == 200
    ]


def test_login_while_factor_is_enabled_leaves_no_session_without_it(crowd, api, rounds):
    for number in rounds:
        ann = Person(api, f"ann{number}@example.com").sign_up()
        ann.set_up()
        log_in = partial(api.post, "login", email=ann.email, password=PASSWORD)
        enable = partial(ann.post, "2fa/verify", code=ann.code())

        *logins, enabled = crowd.race([*[log_in] * LOGINS, enable])

        assert (enabled.status, tally(logins)) == (200, {200: LOGINS})
        assert alive(api, logins) == []
        assert ann.get("me").status == 200


def test_login_during_required_enrolment_leaves_no_session_without_the_factor(
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

        *logins, enrolled = crowd.race([*[log_in] * LOGINS, enrol])

        assert (enrolled.status, tally(logins)) == (200, {200: LOGINS})
        assert alive(api, logins) == []
        assert api.get("me", token=enrolled.data["access_token"]).status == 200


def test_refresh_while_factor_is_enabled_leaves_no_session_without_it(crowd, api, rounds):
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


def test_factor_setup_during_the_deletion_of_its_user_is_refused(crowd, api, rounds):
    for number in rounds:
        ann = Person(api, f"ann{number}@example.com").sign_up()
        admin = Person(api, f"root{number}@example.com").sign_up()
        promote(admin.email)
        delete = partial(api.request, "DELETE", f"admin/users/{ann.user_id}", token=admin.token)

        *setups, deleted = crowd.race([*[partial(ann.post, "2fa/setup")] * LOGINS, delete])

        assert deleted.status == 200
        assert set(tally(setups)) <= {200, "INVALID_TOKEN"}
