"""Hooks of the host project that refuse logins and sign-ups."""

import pytest
from django.db import connection

from authservice.core import errors
from authservice.core.login import host_hooks
from authservice.core.models import AttemptCounter, Session
from authservice.kernel.hooks import Refused
from tests.support.client import PASSWORD
from tests.support.people import make_user, the_user, users
from tests.support.slots import listening
from tests.twofactor.people import Person

HERE = "tests.extending.test_hooks."
seen = []


@pytest.fixture(autouse=True)
def _forget():
    seen.clear()


@pytest.fixture
def hook(configure):
    """`hook(login_hook="refuse")` sets hooks to functions of this file."""

    def set_hooks(**names):
        hooks_by_setting = {key.upper(): HERE + name for key, name in names.items()}
        configure(CORE=hooks_by_setting)

    return set_hooks


def watch(attempt):
    seen.append(attempt)


def refuse(attempt):
    seen.append(attempt)
    raise Refused("NOT_APPROVED", "Waiting for approval.")


def fail(attempt):
    raise LookupError("a fault of the hook")


def misuse(attempt):
    raise errors.InvalidCredentials


def prepare(attempt):
    assert not connection.in_atomic_block
    seen.append(attempt)
    return {"score": 3}


def write_and_refuse(attempt):
    attempt.user.last_name = "Counted"
    attempt.user.save()
    refuse(attempt)


def test_login_refused_by_the_hook_is_403_with_its_code_and_message(db, api, hook):
    make_user()
    hook(login_hook="refuse")

    answer = api.post("login", email="ann@example.com", password=PASSWORD)

    assert answer.error == (403, "NOT_APPROVED")
    assert answer.data["message"] == answer.body["message"] == "Waiting for approval."
    assert not Session.objects.exists()
    assert not answer.response.cookies


def test_login_hook_gets_user_client_method_and_proofs(db, api, hook):
    user = make_user()
    hook(login_hook="watch")

    api.log_in()

    (attempt,) = seen
    assert (attempt.user, attempt.method, attempt.proofs) == (user, "password", ("pwd",))
    assert (attempt.client.address, attempt.prepared) == ("127.0.0.1", None)


def test_login_hook_is_not_called_for_a_wrong_password_or_an_inactive_user(db, api, hook):
    make_user()
    make_user("bob@example.com", is_active=False)
    hook(login_hook="refuse")

    wrong = api.post("login", email="ann@example.com", password="not hers at all")
    inactive = api.post("login", email="bob@example.com", password=PASSWORD)

    assert (wrong.code, inactive.code) == ("INVALID_CREDENTIALS", "USER_NOT_ACTIVE")
    assert not seen


def test_login_refused_by_the_hook_is_recorded_and_its_attempt_stays_counted(db, api, hook):
    make_user()
    hook(login_hook="refuse")
    events = []

    with listening(events.append):
        api.post("login", email="ann@example.com", password=PASSWORD)

    assert [(event.action, event.metadata["reason"]) for event in events] == [
        ("auth.login.failed", "not_approved")
    ]
    assert AttemptCounter.objects.filter(count=1).exists()


def test_login_refusal_keeps_what_the_hook_has_stored(db, api, hook):
    make_user()
    hook(login_hook="write_and_refuse")

    api.post("login", email="ann@example.com", password=PASSWORD)

    assert the_user().last_name == "Counted"


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("broken", ["fail", "misuse"])
@pytest.mark.parametrize("setting", ["login_hook", "login_hook_prepare", "signup_hook"])
def test_hook_that_raises_anything_else_is_500_and_signs_nobody_in(robust, hook, setting, broken):
    make_user()
    hook(**{"login_hook": "watch", setting: broken})

    route = "signup" if setting == "signup_hook" else "login"
    email = "new@example.com" if setting == "signup_hook" else "ann@example.com"
    answer = robust.post(route, email=email, password=PASSWORD)

    assert answer.error == (500, "INTERNAL_ERROR")
    assert (users(), Session.objects.count()) == (1, 0)


@pytest.mark.django_db(transaction=True)
def test_prepare_runs_outside_of_the_transaction_and_its_value_reaches_the_hook(api, hook):
    make_user()
    hook(login_hook="watch", login_hook_prepare="prepare")

    api.log_in()

    before, attempt = seen
    assert (before.prepared, attempt.prepared) == (None, {"score": 3})


@pytest.mark.django_db(transaction=True)
def test_prepare_at_a_signup_gets_the_unsaved_user_outside_of_the_transaction(api, hook):
    hook(login_hook="watch", login_hook_prepare="prepare")

    api.sign_up()

    before, attempt = seen
    assert (before.method, attempt.method) == ("signup", "signup")
    assert before.user._state.adding
    assert attempt.user == the_user()
    assert attempt.prepared == {"score": 3}


def test_prepare_that_refuses_counts_where_the_hook_is_called(db, api, hook):
    make_user()
    hook(login_hook="watch", login_hook_prepare="refuse")

    wrong = api.post("login", email="ann@example.com", password="not hers at all")
    right = api.post("login", email="ann@example.com", password=PASSWORD)

    assert (wrong.code, right.code) == ("INVALID_CREDENTIALS", "NOT_APPROVED")
    assert len(seen) == 1


def test_prepare_that_refuses_shows_after_the_second_factor_only(db, api, hook, clock):
    ann = Person(api).sign_up().enrol()
    clock.forward(seconds=30)
    hook(login_hook="watch", login_hook_prepare="refuse")

    temp_token = ann.temp_token()
    answer = ann.verify_login(ann.code(), temp_token)

    assert answer.error == (403, "NOT_APPROVED")


def test_second_step_refused_by_the_hook_uses_the_code_and_keeps_its_entry(db, api, hook, clock):
    ann = Person(api).sign_up().enrol()
    clock.forward(seconds=30)
    hook(login_hook="refuse")
    temp_token, code, events = ann.temp_token(), ann.code(), []

    with listening(events.append):
        first = ann.verify_login(code, temp_token)

    assert first.error == (403, "NOT_APPROVED")
    assert [event.action for event in events] == ["auth.2fa.verified", "auth.login.failed"]
    hook()
    assert ann.verify_login(code, temp_token).code == "INVALID_TOKEN"
    assert ann.verify_login(code, ann.temp_token()).code == "TWO_FACTOR_INVALID"


def test_signup_whose_login_is_refused_keeps_the_account_and_its_entry(db, api, hook):
    hook(login_hook="refuse")
    events = []

    with listening(events.append):
        answer = api.post("signup", email="ann@example.com", password=PASSWORD)

    assert answer.error == (403, "NOT_APPROVED")
    assert (users(), Session.objects.count()) == (1, 0)
    assert [event.action for event in events] == ["auth.signup", "auth.login.failed"]


def test_signup_refused_by_the_hook_creates_no_user(db, api, hook):
    hook(signup_hook="refuse")

    answer = api.post("signup", email="ann@example.com", password=PASSWORD, first_name="Ann")

    assert answer.error == (403, "NOT_APPROVED")
    assert users() == 0
    (attempt,) = seen
    assert (attempt.user.email, attempt.method) == ("ann@example.com", "signup")
    assert attempt.user._state.adding


def test_signup_hook_is_called_after_the_validation(db, api, hook):
    hook(signup_hook="refuse")

    short = api.post("signup", email="ann@example.com", password="short")
    malformed = api.post("signup", email="ann", password=PASSWORD)

    assert (short.code, malformed.code) == ("INVALID_PASSWORD", "VALIDATION_ERROR")
    assert not seen


@pytest.mark.parametrize("mode", ["tell", "hide"])
def test_signup_refused_by_the_hook_does_not_reveal_whether_the_address_is_free(
    db, api, configure, mode
):
    make_user()
    configure(CORE={"SIGNUP_HOOK": HERE + "refuse", "SIGNUP_ENUMERATION": mode})

    taken = api.post("signup", email="ann@example.com", password=PASSWORD)
    free = api.post("signup", email="new@example.com", password=PASSWORD)

    assert taken.error == free.error == (403, "NOT_APPROVED")
    assert [attempt.user.email for attempt in seen] == ["ann@example.com", "new@example.com"]


def test_signup_hook_is_called_for_a_taken_address_too_if_enumeration_is_hidden(db, api, configure):
    make_user()
    configure(CORE={"SIGNUP_HOOK": HERE + "watch", "SIGNUP_ENUMERATION": "hide"})

    for email in ("ann@example.com", "new@example.com"):
        assert api.post("signup", email=email, password=PASSWORD).status == 201

    assert len(seen) == 2


@pytest.mark.parametrize("code", ["INVALID_TOKEN", "TWO_FACTOR_INVALID", "lower", "", "A B C"])
def test_refused_takes_no_code_of_ours_and_no_malformed_one(code):
    with pytest.raises(ValueError, match="code"):
        Refused(code, "No.")


def test_hooks_that_are_not_set_cost_nothing(db, django_assert_num_queries):
    user = make_user()

    with django_assert_num_queries(0):
        prepared = host_hooks.prepare(user, None, method="password", proofs=())

    assert prepared == host_hooks.Prepared()
