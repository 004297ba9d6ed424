"""GET and DELETE /sessions and /sessions/{id}."""

from uuid import UUID

import pytest
from django.db.models import F
from django.utils import timezone

from authservice.core.models import Session
from authservice.core.sessions import sessions
from authservice.kernel.http.envelope import utc
from tests.client import PASSWORD
from tests.contract.shapes import MOMENT, fits, is_refusal
from tests.forging import claims
from tests.people import change, the_user

pytestmark = pytest.mark.django_db

SESSION = {
    "id": str,
    "user_agent": str,
    "ip_address": str,
    "created_at": MOMENT,
    "expires_at": MOMENT,
    "current": bool,
}
SAID = {"data": {"message": str}}


@pytest.fixture
def three(api):
    """The tokens of three sessions of Ann, oldest first."""
    return [api.sign_up(), api.log_in(), api.log_in()]


@pytest.fixture
def seen(api, three):
    """The list as the newest session sees it."""
    return lambda: api.get("sessions", token=three[-1]["access_token"]).data


def delete(api, path, tokens):
    return api.request("DELETE", path, token=tokens["access_token"])


def opens(api, tokens):
    """What the two tokens of a session are answered."""
    asked = api.get("me", token=tokens["access_token"])
    return asked.status, api.post("refresh", refresh_token=tokens["refresh_token"]).status


class TestList:
    def test_it_is_an_array_of_the_interfaces_shape(self, api, three):
        answer = api.get("sessions", token=three[0]["access_token"])

        assert (answer.status, list(answer.body)) == (200, ["data"])
        assert [fits(session, SESSION) for session in answer.data] == [True] * 3

    def test_the_newest_comes_first(self, seen):
        began = [session["created_at"] for session in seen()]

        assert began == sorted(began, reverse=True)

    def test_the_one_that_asks_is_current_and_no_other(self, api, three):
        asked = api.get("sessions", token=three[1]["access_token"]).data

        assert [session["current"] for session in asked] == [False, True, False]

    def test_it_says_from_where_and_with_what(self, api):
        place = {"User-Agent": "Lynx/2.9"}
        token = api.post("signup", email="ann@example.com", password=PASSWORD, headers=place).data[
            "access_token"
        ]

        [session] = api.get("sessions", token=token).data

        assert (session["user_agent"], session["ip_address"]) == ("Lynx/2.9", "127.0.0.1")

    def test_ids_are_uuids_of_version_7(self, seen):
        assert {UUID(session["id"]).version for session in seen()} == {7}

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
    def test_what_is_over_is_not_in_it(self, seen, change):
        newest = Session.objects.latest("created_at").pk
        Session.objects.exclude(pk=newest).update(**change)

        assert [session["current"] for session in seen()] == [True]

    def test_nobody_elses_are_in_it(self, api, seen):
        api.sign_up("bob@example.com")

        assert len(seen()) == 3

    def test_it_is_for_who_is_signed_in(self, api):
        assert is_refusal(api.get("sessions"), 401, "UNAUTHORIZED")

    @pytest.mark.parametrize("life", ["idle_expires_at", "expires_at"])
    def test_it_ends_with_whichever_life_is_over_first(self, seen, life):
        sooner = timezone.now() + timezone.timedelta(hours=1)
        Session.objects.update(**{life: sooner})

        assert {session["expires_at"] for session in seen()} == {utc(sooner)}


class TestOne:
    def test_it_is_as_in_the_list(self, api, three, seen):
        for session in seen():
            path = f"sessions/{session['id']}"
            answer = api.get(path, token=three[-1]["access_token"])

            assert (answer.status, answer.data) == (200, session)

    def test_it_is_for_who_is_signed_in(self, api, seen):
        assert is_refusal(api.get(f"sessions/{seen()[0]['id']}"), 401, "UNAUTHORIZED")


class TestUnknown:
    """What is no session of one's own that goes on is answered alike, to see it or to end it."""

    @pytest.fixture(params=["GET", "DELETE"])
    def ask(self, request, api, three):
        def ask(session_id):
            path = f"sessions/{session_id}"
            return api.request(request.param, path, token=three[-1]["access_token"])

        return ask

    def test_somebody_elses(self, api, ask):
        tokens = api.sign_up("bob@example.com")
        session_id = str(Session.objects.get(user=the_user("bob@example.com")).pk)

        assert is_refusal(ask(session_id), 404, "SESSION_NOT_FOUND")
        assert opens(api, tokens) == (200, 200)

    def test_somebody_elses_whose_hash_is_the_very_same(self, api, ask):
        """As an import may leave it: nothing else of the two rows differs then."""
        api.sign_up("bob@example.com")
        change("bob@example.com", password=the_user().password)
        Session.objects.filter(user=the_user("bob@example.com")).delete()
        tokens = api.log_in("bob@example.com")
        session_id = str(Session.objects.get(user=the_user("bob@example.com")).pk)

        assert is_refusal(ask(session_id), 404, "SESSION_NOT_FOUND")
        assert opens(api, tokens) == (200, 200)

    @pytest.mark.parametrize("text", ["1", "nonsense", "%00", "é", "x" * 255])
    def test_what_is_no_id(self, ask, text):
        assert is_refusal(ask(text), 404, "SESSION_NOT_FOUND")

    def test_id_longer_than_any_part_of_a_path_is_refused(self, ask):
        assert is_refusal(ask("x" * 256), 400, "VALIDATION_ERROR")

    def test_what_never_was(self, ask):
        never = "01900000-0000-7000-8000-000000000000"

        assert is_refusal(ask(never), 404, "SESSION_NOT_FOUND")

    def test_another_spelling(self, ask, seen):
        spelled = seen()[0]["id"].replace("-", "")

        assert is_refusal(ask(spelled), 404, "SESSION_NOT_FOUND")

    def test_what_is_over(self, ask, seen):
        oldest = seen()[-1]["id"]
        Session.objects.filter(pk=oldest).update(ended_at=F("created_at"))

        assert is_refusal(ask(oldest), 404, "SESSION_NOT_FOUND")


class TestEndOne:
    def test_its_tokens_are_refused_at_once_and_no_others(self, api, three, seen):
        answer = delete(api, f"sessions/{seen()[1]['id']}", three[0])

        assert (answer.status, fits(answer.body, SAID)) == (200, True)
        assert [opens(api, tokens) for tokens in three] == [(200, 200), (401, 401), (200, 200)]

    def test_ones_own_is_no_exception(self, api, three, seen):
        delete(api, f"sessions/{seen()[0]['id']}", three[-1])

        assert [opens(api, tokens) for tokens in three] == [(200, 200), (200, 200), (401, 401)]

    def test_twice_it_is_unknown(self, api, three, seen):
        path = f"sessions/{seen()[1]['id']}"
        delete(api, path, three[0])

        assert delete(api, path, three[0]).error == (404, "SESSION_NOT_FOUND")


class TestEndOthers:
    def test_all_but_this_one_end(self, api, three):
        answer = delete(api, "sessions", three[1])

        assert (answer.status, fits(answer.body, SAID)) == (200, True)
        assert [opens(api, tokens) for tokens in three] == [(401, 401), (200, 200), (401, 401)]

    def test_everybody_else_goes_on(self, api, three):
        bob = api.sign_up("bob@example.com")

        delete(api, "sessions", three[0])

        assert opens(api, bob) == (200, 200)

    def test_where_there_are_none_nothing_is_wrong(self, api):
        assert delete(api, "sessions", api.sign_up()).status == 200

    def test_it_is_for_who_is_signed_in(self, api, three):
        assert is_refusal(api.request("DELETE", "sessions"), 401, "UNAUTHORIZED")


class TestEvents:
    @pytest.fixture
    def revoked(self, told):
        def revoked():
            return [event for event in told if event.action == "security.session.revoked"]

        return revoked

    def test_an_end_is_told_once_by_its_user(self, api, three, seen, revoked):
        session_id = seen()[1]["id"]
        for _ in range(2):
            delete(api, f"sessions/{session_id}", three[0])

        [event] = revoked()
        assert (event.user, event.target, event.actor_type) == (the_user(), None, "user")
        assert event.metadata == {"reason": "revoked", "session": session_id}
        assert event.client.address == "127.0.0.1"

    def test_the_end_of_the_others_is_told_with_their_number(self, api, three, revoked):
        delete(api, "sessions", three[0])

        [event] = revoked()
        assert event.metadata == {"reason": "revoked", "sessions": 2}

    def test_where_none_ended_nothing_is_told(self, api, revoked):
        delete(api, "sessions", api.sign_up())

        assert revoked() == []

    def test_the_rows_say_why(self, api, three):
        delete(api, "sessions", three[0])

        reasons = Session.objects.order_by("created_at").values_list("end_reason", flat=True)
        assert list(reasons) == ["", "revoked", "revoked"]


def test_a_password_that_is_changed_ends_the_others_and_they_leave_the_list(api, three, seen):
    body = {"old_password": PASSWORD, "new_password": "another plum tart"}
    api.request("PUT", "change-password", body, token=three[-1]["access_token"])

    assert [session["current"] for session in seen()] == [True]


class TestNewSecretKey:
    """Sessions that were begun under a key which is among the fallbacks now."""

    @pytest.fixture(autouse=True)
    def _rotated(self, three, settings):
        settings.SECRET_KEY_FALLBACKS = [settings.SECRET_KEY]
        settings.SECRET_KEY = "another secret of the tests, long enough to be a key"

    def test_old_sessions_are_listed(self, seen):
        assert len(seen()) == 3

    def test_old_session_can_be_ended(self, api, three, seen):
        oldest = seen()[-1]["id"]

        assert delete(api, f"sessions/{oldest}", three[-1]).status == 200
        assert opens(api, three[0]) == (401, 401)
        assert opens(api, three[1]) == (200, 200)


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
    assert opens(api, other) == (200, 200)
