"""GET and DELETE /sessions and /sessions/{id}."""

import time
from datetime import timedelta
from uuid import UUID

import pytest
import time_machine
from django.db.models import F
from django.utils import timezone

from authservice.core.models import Session
from authservice.core.sessions import sessions
from authservice.kernel.http.envelope import utc
from tests.contract.shapes import MOMENT, fits, is_refusal
from tests.support.client import PASSWORD
from tests.support.forging import claims
from tests.support.people import change, the_user

pytestmark = pytest.mark.django_db

SESSION = {
    "id": str,
    "user_agent": str,
    "ip_address": str,
    "created_at": MOMENT,
    "last_used_at": MOMENT,
    "expires_at": MOMENT,
    "current": bool,
}
MESSAGE = {"data": {"message": str}}


@pytest.fixture
def three(api):
    """The tokens of three sessions of one user, oldest first."""
    return [api.sign_up(), api.log_in(), api.log_in()]


@pytest.fixture
def listed(api, three):
    """The list of sessions as shown to the newest session."""
    return lambda: api.get("sessions", token=three[-1]["access_token"]).data


def delete(api, path, tokens):
    return api.request("DELETE", path, token=tokens["access_token"])


def statuses(api, tokens):
    """The response statuses of the access and the refresh token of a session."""
    shown = api.get("me", token=tokens["access_token"])
    return shown.status, api.post("refresh", refresh_token=tokens["refresh_token"]).status


class TestList:
    def test_list_of_sessions_has_the_documented_shape(self, api, three):
        answer = api.get("sessions", token=three[0]["access_token"])

        assert (answer.status, list(answer.body)) == (200, ["data"])
        assert [fits(session, SESSION) for session in answer.data] == [True] * 3

    def test_list_of_sessions_begins_with_the_newest(self, listed):
        began = [session["created_at"] for session in listed()]

        assert began == sorted(began, reverse=True)

    def test_list_of_sessions_marks_only_the_own_session_as_current(self, api, three):
        shown = api.get("sessions", token=three[1]["access_token"]).data

        assert [session["current"] for session in shown] == [False, True, False]

    def test_list_of_sessions_shows_user_agent_and_ip_address(self, api):
        headers = {"User-Agent": "Lynx/2.9"}
        token = api.post(
            "signup", email="ann@example.com", password=PASSWORD, headers=headers
        ).data["access_token"]

        [session] = api.get("sessions", token=token).data

        assert (session["user_agent"], session["ip_address"]) == ("Lynx/2.9", "127.0.0.1")

    def test_list_of_sessions_shows_when_each_was_used(self, api, three, listed):
        now = time.time()  # no datetime, whose zone would become that of the process
        with time_machine.travel(now + 3600, tick=False):
            refreshed = api.post("refresh", refresh_token=three[0]["refresh_token"]).data
        # A moment later: not stored, to save a write for each request.
        with time_machine.travel(now + 62 * 60, tick=False):
            api.get("me", token=refreshed["access_token"])

        used = [session["last_used_at"] > session["created_at"] for session in listed()]
        row = Session.objects.earliest("created_at")

        assert used == [False, False, True]
        assert listed()[2]["last_used_at"] == utc(row.last_used_at)
        assert row.last_used_at - row.created_at < timedelta(minutes=61)

    def test_list_of_sessions_has_ids_of_uuid_version_7(self, listed):
        assert {UUID(session["id"]).version for session in listed()} == {7}

    @pytest.mark.parametrize(
        "change",
        [
            {"ended_at": F("created_at")},
            {"idle_expires_at": F("created_at")},
            {"expires_at": F("created_at")},
            {"token_version": 7},
            {"password_fingerprint": "of another password"},
        ],
        ids=lambda change: next(iter(change)),
    )
    def test_list_of_sessions_omits_ended_and_expired_sessions(self, listed, change):
        newest = Session.objects.latest("created_at").pk
        Session.objects.exclude(pk=newest).update(**change)

        assert [session["current"] for session in listed()] == [True]

    def test_list_of_sessions_omits_sessions_of_other_users(self, api, listed):
        api.sign_up("bob@example.com")

        assert len(listed()) == 3

    def test_list_of_sessions_requires_a_token(self, api):
        assert is_refusal(api.get("sessions"), 401, "UNAUTHORIZED")

    @pytest.mark.parametrize("field", ["idle_expires_at", "expires_at"])
    def test_list_of_sessions_shows_the_earlier_of_two_expiries(self, listed, field):
        sooner = timezone.now() + timezone.timedelta(hours=1)
        Session.objects.update(**{field: sooner})

        assert {session["expires_at"] for session in listed()} == {utc(sooner)}


class TestOne:
    def test_one_session_is_shown_as_in_the_list(self, api, three, listed):
        sessions = listed()
        assert len(sessions) == 3
        for session in sessions:
            path = f"sessions/{session['id']}"
            answer = api.get(path, token=three[-1]["access_token"])

            assert (answer.status, answer.data) == (200, session)

    def test_one_session_requires_a_token(self, api, listed):
        assert is_refusal(api.get(f"sessions/{listed()[0]['id']}"), 401, "UNAUTHORIZED")


class TestUnknown:
    """Requests for anything but an active session of the user get the same response."""

    @pytest.fixture(params=["GET", "DELETE"])
    def request_session(self, request, api, three):
        def request_session(session_id):
            path = f"sessions/{session_id}"
            return api.request(request.param, path, token=three[-1]["access_token"])

        return request_session

    def test_session_of_another_user_is_not_found(self, api, request_session):
        tokens = api.sign_up("bob@example.com")
        session_id = str(Session.objects.get(user=the_user("bob@example.com")).pk)

        assert is_refusal(request_session(session_id), 404, "SESSION_NOT_FOUND")
        assert statuses(api, tokens) == (200, 200)

    def test_session_of_another_user_with_the_same_hash_is_not_found(self, api, request_session):
        """An import may copy hashes; then only the user distinguishes the two rows."""
        api.sign_up("bob@example.com")
        change("bob@example.com", password=the_user().password)
        Session.objects.filter(user=the_user("bob@example.com")).delete()
        tokens = api.log_in("bob@example.com")
        session_id = str(Session.objects.get(user=the_user("bob@example.com")).pk)

        assert is_refusal(request_session(session_id), 404, "SESSION_NOT_FOUND")
        assert statuses(api, tokens) == (200, 200)

    @pytest.mark.parametrize("text", ["1", "nonsense", "%00", "é", "x" * 255])
    def test_session_with_an_invalid_id_is_not_found(self, request_session, text):
        assert is_refusal(request_session(text), 404, "SESSION_NOT_FOUND")

    def test_session_with_an_id_that_is_too_long_is_a_validation_error(self, request_session):
        assert is_refusal(request_session("x" * 256), 400, "VALIDATION_ERROR")

    def test_session_with_an_unknown_id_is_not_found(self, request_session):
        never = "01900000-0000-7000-8000-000000000000"

        assert is_refusal(request_session(never), 404, "SESSION_NOT_FOUND")

    def test_session_with_its_id_in_another_form_is_not_found(self, request_session, listed):
        encoded = listed()[0]["id"].replace("-", "")

        assert is_refusal(request_session(encoded), 404, "SESSION_NOT_FOUND")

    def test_session_that_ended_is_not_found(self, request_session, listed):
        oldest = listed()[-1]["id"]
        Session.objects.filter(pk=oldest).update(ended_at=F("created_at"))

        assert is_refusal(request_session(oldest), 404, "SESSION_NOT_FOUND")


class TestEndOne:
    def test_revoking_a_session_refuses_its_tokens_at_once_and_no_others(self, api, three, listed):
        answer = delete(api, f"sessions/{listed()[1]['id']}", three[0])

        assert (answer.status, fits(answer.body, MESSAGE)) == (200, True)
        assert [statuses(api, tokens) for tokens in three] == [(200, 200), (401, 401), (200, 200)]

    def test_revoking_the_own_session_refuses_its_tokens(self, api, three, listed):
        delete(api, f"sessions/{listed()[0]['id']}", three[-1])

        assert [statuses(api, tokens) for tokens in three] == [(200, 200), (200, 200), (401, 401)]

    def test_revoking_a_session_twice_is_not_found(self, api, three, listed):
        path = f"sessions/{listed()[1]['id']}"
        delete(api, path, three[0])

        assert delete(api, path, three[0]).error == (404, "SESSION_NOT_FOUND")


class TestEndOthers:
    def test_revoking_other_sessions_ends_all_but_the_own(self, api, three):
        answer = delete(api, "sessions", three[1])

        assert (answer.status, fits(answer.body, MESSAGE)) == (200, True)
        assert [statuses(api, tokens) for tokens in three] == [(401, 401), (200, 200), (401, 401)]

    def test_revoking_other_sessions_keeps_sessions_of_other_users(self, api, three):
        bob = api.sign_up("bob@example.com")

        delete(api, "sessions", three[0])

        assert statuses(api, bob) == (200, 200)

    def test_revoking_other_sessions_succeeds_if_there_are_none(self, api):
        assert delete(api, "sessions", api.sign_up()).status == 200

    def test_revoking_other_sessions_requires_a_token(self, api, three):
        assert is_refusal(api.request("DELETE", "sessions"), 401, "UNAUTHORIZED")


class TestEvents:
    @pytest.fixture
    def revoked(self, events):
        def revoked():
            return [event for event in events if event.action == "security.session.revoked"]

        return revoked

    def test_revoked_session_is_recorded_once_with_its_user(self, api, three, listed, revoked):
        session_id = listed()[1]["id"]
        for _ in range(2):
            delete(api, f"sessions/{session_id}", three[0])

        [event] = revoked()
        assert (event.user, event.target, event.actor_type) == (the_user(), None, "user")
        assert event.metadata == {"reason": "revoked", "session": session_id}
        assert event.client.address == "127.0.0.1"

    def test_revoked_other_sessions_are_recorded_with_their_number(self, api, three, revoked):
        delete(api, "sessions", three[0])

        [event] = revoked()
        assert event.metadata == {"reason": "revoked", "sessions": 2}

    def test_revoking_no_session_records_nothing(self, api, revoked):
        delete(api, "sessions", api.sign_up())

        assert revoked() == []

    def test_revoked_sessions_store_the_reason(self, api, three):
        delete(api, "sessions", three[0])

        reasons = Session.objects.order_by("created_at").values_list("end_reason", flat=True)
        assert list(reasons) == ["", "revoked", "revoked"]


def test_password_change_removes_other_sessions_from_the_list(api, three, listed):
    body = {"old_password": PASSWORD, "new_password": "another plum tart"}
    api.request("PUT", "change-password", body, token=three[-1]["access_token"])

    assert [session["current"] for session in listed()] == [True]


class TestNewSecretKey:
    """Sessions started under a key that is now among the fallbacks."""

    @pytest.fixture(autouse=True)
    def _rotated(self, three, settings):
        settings.SECRET_KEY_FALLBACKS = [settings.SECRET_KEY]
        settings.SECRET_KEY = "another secret of the tests, long enough to be a key"

    def test_sessions_of_a_fallback_key_are_listed(self, listed):
        assert len(listed()) == 3

    def test_session_of_a_fallback_key_can_be_revoked(self, api, three, listed):
        oldest = listed()[-1]["id"]

        assert delete(api, f"sessions/{oldest}", three[-1]).status == 200
        assert statuses(api, three[0]) == (401, 401)
        assert statuses(api, three[1]) == (200, 200)


@pytest.mark.parametrize("path", ["sessions/{id}", "sessions"])
def test_session_that_ended_meanwhile_revokes_no_other(api, three, monkeypatch, path):
    caller, other = three[0], three[1]
    other_id = claims(other["access_token"])["sid"]
    changing = sessions.changing

    def changing_after_the_end(*arguments):
        monkeypatch.undo()
        api.post("logout", token=caller["access_token"])
        return changing(*arguments)

    monkeypatch.setattr(sessions, "changing", changing_after_the_end)

    assert delete(api, path.format(id=other_id), caller).error == (401, "INVALID_TOKEN")
    assert statuses(api, other) == (200, 200)
