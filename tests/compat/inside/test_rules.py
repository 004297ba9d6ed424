"""The routes of simplejwt keep every rule of this service."""

import pytest
from django.core.cache import caches

from authservice import signals
from authservice.core.models import Account, Session
from authservice.core.sessions import sessions
from authservice.kernel.hooks import Refused
from tests.support.client import PASSWORD
from tests.support.people import deactivate
from tests.twofactor.people import Person

pytestmark = pytest.mark.django_db


def test_access_token_identifies_the_user_at_our_routes(api, ann, tokens):
    assert api.get("me", token=tokens["access"]).data["id"] == str(ann.pk)


def test_refresh_token_has_one_successor(client, tokens):
    successor = client.refresh(tokens["refresh"]).body["refresh"]

    assert client.refresh(tokens["refresh"]).code == "token_not_valid"
    assert client.refresh(successor).status == 200


def test_refresh_token_reused_after_the_leeway_ends_the_session(client, ann, clock):
    first = client.obtain().body
    second = client.refresh(first["refresh"]).body
    clock.forward(seconds=11)

    client.refresh(first["refresh"])

    assert client.refresh(second["refresh"]).status == 401


def test_blacklist_ends_the_session(api, client, tokens):
    client.blacklist(tokens["refresh"])

    assert Session.objects.get().end_reason == sessions.LOGOUT
    assert api.get("me", token=tokens["access"]).code == "INVALID_TOKEN"


def test_blacklist_ends_no_session_with_a_replaced_token(client, tokens):
    client.refresh(tokens["refresh"])

    assert client.blacklist(tokens["refresh"]).status == 401
    assert Session.objects.get().ended_at is None


def test_verify_accepts_no_token_of_an_ended_session(client, tokens):
    client.blacklist(tokens["refresh"])

    assert client.verify(tokens["access"]).status == 401
    assert client.verify(tokens["refresh"]).status == 401


def test_verify_reads_the_session_whatever_requests_check(client, tokens, configure):
    configure(STATELESS={"CHECK": "signature"})
    client.blacklist(tokens["refresh"])

    assert client.verify(tokens["access"]).status == 401


def test_verify_accepts_no_refresh_token_that_was_replaced(client, tokens):
    client.refresh(tokens["refresh"])

    assert client.verify(tokens["refresh"]).status == 401


def test_verify_uses_no_refresh_token(client, tokens):
    client.verify(tokens["refresh"])

    assert client.refresh(tokens["refresh"]).status == 200


def test_wrong_passwords_lock_the_account_at_each_way_to_log_in(api, ann, client):
    refused = [client.obtain(password="another plum 43") for _ in range(11)]

    assert [answer.status for answer in refused] == [401] * 10 + [429]
    assert refused[-1].code == "TOO_MANY_ATTEMPTS"
    assert int(refused[-1].response["Retry-After"]) > 0
    assert client.obtain().status == 429
    assert api.post("login", username="ann", password=PASSWORD).code == "TOO_MANY_ATTEMPTS"


def test_requests_are_rate_limited(client, clock, ann, configure):
    configure(THROTTLE={"RATES": {"default": "2/d"}})
    caches["default"].clear()

    answers = [client.verify("nothing") for _ in range(3)]

    assert [answer.status for answer in answers] == [401, 401, 429]
    assert answers[-1].code == "TOO_MANY_REQUESTS"


def test_inactive_user_is_refused_with_the_right_password_only(client, ann):
    deactivate()

    assert client.obtain().status == 401
    assert not Session.objects.exists()


def test_unverified_user_is_refused_where_verification_is_required(client, ann, configure):
    configure(CORE={"REQUIRE_EMAIL_VERIFICATION": True})

    assert (client.obtain().status, client.obtain().code) == (403, "EMAIL_NOT_VERIFIED")
    assert not Session.objects.exists()


def test_verified_user_logs_in_where_verification_is_required(client, ann, tokens, configure):
    configure(CORE={"REQUIRE_EMAIL_VERIFICATION": True})
    account = Account.objects.get()
    Account.objects.update(verified_email_key=account.email_key)

    assert client.obtain().status == 200


def test_user_with_a_second_factor_gets_no_token(api, client):
    Person(api).sign_up().enrol()
    begun = Session.objects.count()
    answer = client.obtain()

    assert (answer.status, answer.code) == (401, "TWO_FACTOR_REQUIRED")
    assert set(answer.body) == {"detail", "code"}
    assert Session.objects.count() == begun


def test_wrong_password_of_a_user_with_a_second_factor_does_not_reveal_it(api, client):
    Person(api).sign_up().enrol()

    assert client.obtain(password="another plum 43").code == "no_active_account"


def refuse(attempt):
    """A login hook of the project."""
    raise Refused("NOT_APPROVED", "Not approved yet.")


def test_login_hook_of_the_project_refuses(client, ann, configure):
    configure(CORE={"LOGIN_HOOK": f"{__name__}.refuse"})
    answer = client.obtain()

    assert answer.status == 403
    assert answer.body == {"detail": "Not approved yet.", "code": "NOT_APPROVED"}
    assert not Session.objects.exists()


def test_login_is_recorded(ann, client, received, django_capture_on_commit_callbacks):
    logged_in, failed = received(signals.logged_in), received(signals.login_failed)
    with django_capture_on_commit_callbacks(execute=True):
        client.obtain()
        client.obtain(password="another plum 43")

    assert [event.action for event in logged_in] == ["auth.login.success"]
    assert [event.metadata["reason"] for event in failed] == ["invalid_credentials"]


def test_blacklist_is_recorded_as_a_logout(
    tokens, client, received, django_capture_on_commit_callbacks
):
    left = received(signals.logged_out)
    with django_capture_on_commit_callbacks(execute=True):
        client.blacklist(tokens["refresh"])

    assert [event.action for event in left] == ["auth.logout"]


def test_no_answer_may_be_cached_or_sets_a_token_cookie(ann, client):
    response = client.obtain().response

    assert response["Cache-Control"] == "no-store, private"
    assert set(response.cookies) == {"authservice_device"}


def test_form_of_another_site_does_not_replace_the_device_of_a_browser(ann, client):
    body = f"username=ann&password={PASSWORD.replace(' ', '+')}"

    assert client.send("POST", "token/", body, form=True).response.cookies == {}
    assert client.obtain().response.cookies


def test_unexpected_exception_has_detail_and_code(ann, client, monkeypatch):
    def crash(*_, **__):
        raise RuntimeError("plum")

    monkeypatch.setattr("authservice.compat.simplejwt.views.login.with_password", crash)
    answer = client.obtain()

    assert answer.status == 500
    assert answer.body == {"detail": "An internal error occurred.", "code": "INTERNAL_ERROR"}


def test_refusal_is_in_the_language_of_the_client(client, ann, settings, configure):
    settings.LANGUAGES = [("en", "English"), ("de", "German")]
    configure(CORE={"REQUIRE_EMAIL_VERIFICATION": True})
    german = client.obtain(HTTP_ACCEPT_LANGUAGE="de")

    assert german.code == "EMAIL_NOT_VERIFIED"
    assert german.response["Content-Language"] == "de"
    assert german.body["detail"] != client.obtain().body["detail"]


@pytest.mark.parametrize("field", ["username", "password", "refresh", "token"])
def test_text_that_is_too_long_is_refused(ann, client, field):
    path = {"refresh": "token/refresh/", "token": "token/verify/"}.get(field, "token/")
    body = {"username": "ann", "password": PASSWORD, field: "x" * 9000}
    answer = client.send("POST", path, body)

    assert answer.status == 400
    assert list(answer.body) == [field]


def test_value_of_another_type_is_refused(ann, client):
    answer = client.send("POST", "token/", {"username": 1, "password": True})

    assert answer.status == 400
    assert set(answer.body) == {"username", "password"}
