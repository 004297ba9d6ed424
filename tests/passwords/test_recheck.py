"""At a login, the right password is checked again."""

import pytest
from django.contrib.auth.hashers import make_password

from authservice.core.errors import PasswordChangeRequired
from authservice.core.messages import kinds
from authservice.core.models import Account
from authservice.core.staff import admin_login
from authservice.core.users.identifiers import phone_key
from authservice.kernel import modules
from authservice.kernel.client import Client
from authservice.kernel.secret import Secret
from tests.passwords.ranges import digest
from tests.support.client import PASSWORD
from tests.support.flows import ANN, NEW, PHONE, prove
from tests.support.people import change, deactivate, the_user
from tests.support.statements import statements

pytestmark = pytest.mark.django_db

UNSAFE = "auth.password.unsafe"
REFUSED = (403, "PASSWORD_CHANGE_REQUIRED")


@pytest.fixture
def ann(api, ranges, post, recorded):
    """A user with a proven address, who has not logged in since."""
    tokens = api.sign_up(ANN)
    prove()
    post.jobs.clear()
    recorded.clear()
    ranges.asked.clear()
    return tokens


@pytest.fixture
def recheck(configure):
    return lambda mode: configure(CORE={"PASSWORD_RECHECK": mode})


def log_in(api, password=PASSWORD, email=ANN):
    return api.post("login", email=email, password=password)


def actions(recorded):
    return [event.action for event in recorded if event.action.startswith("auth.password")]


# A notice


def test_owner_of_a_breached_password_is_notified_once(api, ann, ranges, post, recorded):
    ranges.breached.add(PASSWORD)

    assert [log_in(api).status for _ in range(3)] == [200] * 3

    assert post.kinds().count(kinds.PASSWORD_UNSAFE) == 1
    assert post.outgoing(kinds.PASSWORD_UNSAFE).to == ANN
    (event,) = (event for event in recorded if event.action == UNSAFE)
    assert (event.metadata, event.severity) == ({"rule": "password_breached"}, "warning")


def test_response_of_the_login_is_the_same(api, ann, ranges):
    before = log_in(api)
    ranges.breached.add(PASSWORD)
    change(password=make_password(PASSWORD))  # otherwise it would not be checked for 30 days

    after = log_in(api)

    assert after.status == before.status
    assert after.body.keys() == before.body.keys()
    assert after.data.keys() == before.data.keys()


def test_address_that_was_not_proven_gets_no_notice(api, ranges, post, recorded):
    api.sign_up(ANN)
    ranges.breached.add(PASSWORD)

    log_in(api)

    assert kinds.PASSWORD_UNSAFE not in post.kinds()
    assert actions(recorded) == [UNSAFE]


def test_safe_password_is_checked_once_in_thirty_days(api, ranges, clock):
    api.sign_up(ANN)
    ranges.asked.clear()

    for _ in range(3):
        log_in(api)
    assert len(ranges.asked) == 1

    clock.forward(days=31)
    log_in(api)
    assert len(ranges.asked) == 2


def test_other_password_of_the_user_is_checked(api, ann, ranges, post):
    log_in(api)
    ranges.breached.add(NEW)
    change(password=make_password(NEW))

    log_in(api, NEW)

    assert kinds.PASSWORD_UNSAFE in post.kinds()


def test_better_hash_of_the_same_password_is_not_checked_again(api, ann, ranges, settings):
    log_in(api)
    settings.PASSWORD_HASHERS = ["tests.support.hashing.PBKDF2", *settings.PASSWORD_HASHERS]

    assert [log_in(api).status for _ in range(2)] == [200, 200]

    assert len(ranges.asked) == 1


def test_password_accepted_while_the_server_was_away_is_checked_at_a_login(
    api, ranges, post, later
):
    ranges.breached.add(PASSWORD)
    ranges.fault = lambda client, server: client.close()
    api.sign_up(ANN)
    prove()
    log_in(api)
    assert kinds.PASSWORD_UNSAFE not in post.kinds()

    ranges.fault = None
    later(61)
    log_in(api)

    assert post.kinds().count(kinds.PASSWORD_UNSAFE) == 1


def test_wrong_password_is_not_checked(api, ann, ranges):
    ranges.breached.add(PASSWORD)

    log_in(api, f"not {PASSWORD}")

    assert ranges.asked == []


def test_user_who_may_not_log_in_is_not_checked(api, ann, ranges):
    ranges.breached.add(PASSWORD)
    deactivate()

    assert log_in(api).error == (403, "USER_NOT_ACTIVE")

    assert ranges.asked == []


def test_other_rules_are_checked_too(api, ann, validate, post, recorded):
    validate("MinimumLengthWithoutFactor", min_length=40)

    log_in(api)

    assert kinds.PASSWORD_UNSAFE in post.kinds()
    (event,) = (event for event in recorded if event.action == UNSAFE)
    assert event.metadata == {"rule": "password_too_short"}


@pytest.mark.parametrize("mode", ["notice", "change"])
def test_report_of_one_rule_does_not_hide_another(
    api, ann, ranges, recheck, settings, recorded, mode
):
    """The password was too short until its owner set up a second factor."""
    recheck(mode)
    settings.AUTH_PASSWORD_VALIDATORS += [
        {"NAME": "authservice.validators.MinimumLengthWithoutFactor", "OPTIONS": {"min_length": 40}}
    ]
    log_in(api)
    settings.AUTH_PASSWORD_VALIDATORS = settings.AUTH_PASSWORD_VALIDATORS[:-1]
    ranges.breached.add(PASSWORD)

    log_in(api)
    log_in(api)

    rules = [event.metadata["rule"] for event in recorded if event.action == UNSAFE]
    assert rules == ["password_too_short", "password_breached"]


def test_recheck_that_is_off_costs_no_query(api, ann, ranges, recheck, settings):
    recheck("off")
    ranges.breached.add(PASSWORD)
    log_in(api)  # stores the counter of attempts
    ours = statements(lambda: log_in(api))

    settings.AUTH_PASSWORD_VALIDATORS = []

    assert ours == statements(lambda: log_in(api))
    assert ranges.asked == []


@pytest.mark.parametrize(
    "validator",
    [
        "django.contrib.auth.password_validation.CommonPasswordValidator",
        "authservice.validators.MinimumLengthWithoutFactor",
    ],
)
def test_safe_password_costs_no_query_without_a_server(api, ann, recheck, settings, validator):
    settings.AUTH_PASSWORD_VALIDATORS = [{"NAME": validator}]
    log_in(api)  # stores the counter of attempts
    notice = statements(lambda: log_in(api))
    recheck("off")

    assert notice == statements(lambda: log_in(api))


# A required change


def test_breached_password_must_be_changed(api, ann, flows, ranges, recheck, post, recorded):
    recheck("change")
    ranges.breached.add(PASSWORD)

    answer = log_in(api)

    assert answer.error == REFUSED
    assert post.kinds() == [kinds.RESET_BY_LINK]
    failed = [event for event in recorded if event.action == "auth.login.failed"]
    assert [event.metadata["reason"] for event in failed] == ["password_change_required"]
    assert flows.reset(post.token(kinds.RESET_BY_LINK)).status == 200
    assert log_in(api, NEW).status == 200


def test_breached_password_is_refused_at_every_login(api, ann, ranges, recheck, recorded):
    recheck("change")
    ranges.breached.add(PASSWORD)

    assert [log_in(api).error for _ in range(3)] == [REFUSED] * 3
    assert actions(recorded).count(UNSAFE) == 1


def test_required_change_is_hidden_from_a_client_without_the_password(api, ann, ranges, recheck):
    recheck("change")
    wrong = log_in(api, f"not {PASSWORD}")
    ranges.breached.add(PASSWORD)

    other = log_in(api, f"not {PASSWORD}")

    assert (other.error, other.body) == (wrong.error, wrong.body)


def test_server_that_is_away_requires_no_change(api, ann, ranges, recheck):
    recheck("change")
    ranges.breached.add(PASSWORD)
    ranges.fault = lambda client, server: client.close()

    assert log_in(api).status == 200


def test_password_known_to_be_breached_is_refused_while_the_server_is_away(
    api, ann, ranges, recheck
):
    recheck("change")
    ranges.breached.add(PASSWORD)
    assert log_in(api).error == REFUSED

    ranges.fault = lambda client, server: client.close()

    assert log_in(api).error == REFUSED


def test_user_who_was_notified_before_must_change_the_password_too(api, ann, ranges, recheck):
    ranges.breached.add(PASSWORD)
    assert log_in(api).status == 200

    recheck("change")

    assert log_in(api).error == REFUSED


def test_user_without_an_address_gets_a_code_by_text(api, flows, ranges, recheck, post):
    api.post("signup", username="ben", password=PASSWORD, phone_number=PHONE)
    Account.objects.update(verified_phone_key=phone_key(PHONE))
    recheck("change")
    ranges.breached.add(PASSWORD)

    assert api.post("login", username="ben", password=PASSWORD).error == REFUSED

    assert flows.reset_by_code(post.code(kinds.RESET_BY_CODE)).status == 200
    assert api.post("login", username="ben", password=NEW).status == 200


def test_user_who_cannot_be_reached_logs_in(api, ann, ranges, recheck):
    recheck("change")
    ranges.breached.add(PASSWORD)

    with modules.plugged("messenger", None):
        assert log_in(api).status == 200


def test_login_of_django_admin_checks_the_password_too(ann, ranges, recheck):
    def log_in_to_admin():
        return admin_login.log_in(
            the_user().get_username(), Secret(PASSWORD), Secret(""), Client(), allow=bool
        )

    assert log_in_to_admin() == the_user()
    change(password=make_password(PASSWORD))  # otherwise it would not be checked for 30 days
    ranges.breached.add(PASSWORD)
    recheck("change")

    with pytest.raises(PasswordChangeRequired):
        log_in_to_admin()


def test_sessions_that_began_earlier_continue(api, ann, ranges, recheck):
    recheck("change")
    ranges.breached.add(PASSWORD)
    log_in(api)

    assert api.get("me", token=ann["access_token"]).status == 200


def test_digest_of_the_password_is_not_stored(api, ann, ranges, recorded):
    ranges.breached.add(PASSWORD)

    log_in(api)

    assert digest(PASSWORD)[:5].lower() not in repr(recorded).lower()
