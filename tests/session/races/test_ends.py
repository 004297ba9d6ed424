"""A session that ends during a refresh, a request or another revocation stays ended."""

from functools import partial
from threading import Barrier

from django.utils import timezone

from authservice.core.models import Session
from authservice.core.sessions import sessions
from authservice.session import stores
from tests.races.crowd import SIZE, tally


def revoke(api, session_id, token):
    return partial(api.request, "DELETE", f"sessions/{session_id}", token=token)


def test_revocation_during_a_refresh_leaves_no_valid_token(crowd, api, rounds, each_store):
    for number in rounds:
        email = f"ann{number}@example.com"
        stolen = api.sign_up(email)
        session_id = str(Session.objects.latest("created_at").pk)
        own = api.log_in(email)["access_token"]
        refresh = partial(api.post, "refresh", refresh_token=stolen["refresh_token"])

        answers = crowd.race([refresh, revoke(api, session_id, own)] * (SIZE // 2))
        won = [answer.data for answer in answers[::2] if answer.status == 200]

        for left in [stolen, *won]:
            assert api.post("refresh", refresh_token=left["refresh_token"]).status == 401
            assert api.get("me", token=left["access_token"]).status == 401


def test_concurrent_revocations_of_one_session_record_one_event(crowd, api, rounds, events):
    for number in rounds:
        email = f"ann{number}@example.com"
        api.sign_up(email)
        session_id = str(Session.objects.latest("created_at").pk)
        own = api.log_in(email)["access_token"]
        events.clear()

        answers = crowd.all_do(revoke(api, session_id, own))

        assert tally(answers) == {200: 1, "SESSION_NOT_FOUND": SIZE - 1}
        assert [event.action for event in events] == ["security.session.revoked"]


def test_two_sessions_that_revoke_each_other_leave_a_consistent_state(crowd, api, rounds):
    for number in rounds:
        email = f"ann{number}@example.com"
        tokens = [api.sign_up(email)["access_token"], api.log_in(email)["access_token"]]
        ends = [partial(api.request, "DELETE", "sessions", token=token) for token in tokens]

        answers = crowd.race(ends * (SIZE // 2))

        assert set(tally(answers)) <= {200, "INVALID_TOKEN"}
        assert Session.objects.filter(end_reason="revoked").count() >= number + 1


def test_request_after_the_end_of_a_session_is_refused(crowd, api, rounds, each_store):
    """Requests that read the row before its end must not reactivate the session for later ones."""
    for number in rounds:
        tokens = api.sign_up(f"ann{number}@example.com")["access_token"]
        ago = timezone.now() - timezone.timedelta(minutes=6)
        Session.objects.filter(ended_at=None).update(last_used_at=ago)
        logout = partial(api.post, "logout", token=tokens)

        crowd.race([partial(api.get, "me", token=tokens)] * (SIZE - 1) + [logout])

        assert api.get("me", token=tokens).error == (401, "INVALID_TOKEN")


def test_concurrent_requests_write_the_last_use_once(crowd, api, rounds, monkeypatch):
    written = []
    run, all_have_read = sessions._TOUCH.run, Barrier(SIZE)

    def wait(self, session):
        # Requests usually arrive one after another: here each waits until all have read.
        all_have_read.wait(60)
        return True

    monkeypatch.setattr(stores.DatabaseStore, "alive", wait)
    monkeypatch.setattr(
        sessions._TOUCH, "run", lambda *given, **named: written.append(run(*given, **named))
    )
    for number in rounds:
        token = api.sign_up(f"ann{number}@example.com")["access_token"]
        ago = timezone.now() - timezone.timedelta(minutes=6)
        Session.objects.update(last_used_at=ago)
        written.clear()

        answers = crowd.all_do(partial(api.get, "me", token=token))

        assert tally(answers) == {200: SIZE}
        assert (len(written), sum(written)) == (SIZE, 1)
