"""What a page costs: the statements of each section and form, and one request of the flood limit.

A page and the first route that it calls share what the database said about their user.
"""

from time import monotonic

import pytest
from django.contrib.auth import get_user_model
from django.db import OperationalError, connection
from django.test.utils import CaptureQueriesContext
from psycopg import errors as postgresql

from authservice.core.api import account_views, identity
from authservice.core.recovery import profile
from authservice.core.sessions import bearer, revocation
from authservice.kernel import errors, throttling
from authservice.kernel.secret import Secret
from authservice.pages.account_pages import shown
from tests.pages.inside.person import ACCEPT
from tests.support.flows import ANN

pytestmark = pytest.mark.django_db

# Statements, without transaction control. The user and the session are read in one.
SECTIONS = {"profile": 1, "security": 6, "sessions": 2, "organizations": 4, "activity": 2}
CONTROL = ("BEGIN", "COMMIT", "SAVEPOINT", "RELEASE", "ROLLBACK")


def statements(captured):
    return [query["sql"] for query in captured if not query["sql"].startswith(CONTROL)]


def user():
    return get_user_model().objects.get()


@pytest.mark.parametrize("section", [section.name for section in shown()])
def test_statements_of_a_section(section, signed_in):
    signed_in.open(f"/auth/account/{section}")

    with CaptureQueriesContext(connection) as captured:
        assert signed_in.open(f"/auth/account/{section}").status == 200

    assert len(statements(captured)) == SECTIONS[section], statements(captured)


def test_form_needs_no_statement_more_than_its_route(signed_in, api):
    token = api.log_in(ANN)["access_token"]
    page = signed_in.open("/auth/account/profile/name")

    with CaptureQueriesContext(connection) as of_page:
        assert signed_in.post(page, name="Ann Lee").status == 303
    with CaptureQueriesContext(connection) as of_route:
        assert api.request("PATCH", "profile", {"name": "Li"}, token=token).status == 200

    assert len(statements(of_page)) == len(statements(of_route)), statements(of_page)


@pytest.mark.django_db(transaction=True)
def test_retry_after_a_deadlock_reads_the_user_again(signed_in, monkeypatch):
    """A change of the first attempt is rolled back, and the session may have ended meanwhile."""
    page = signed_in.open("/auth/account/profile/name")
    store, attempts = profile.update, []

    def deadlock_once(person, *args, **kwargs):
        attempts.append(person)
        if len(attempts) == 1:
            revocation.revoke_users([user()])
            raise OperationalError from postgresql.DeadlockDetected()
        return store(person, *args, **kwargs)

    monkeypatch.setattr(account_views.profile, "update", deadlock_once)
    sent = signed_in.post(page, name="Ann Lee")

    assert (len(attempts), sent.status) == (1, 303)
    assert sent.location.startswith("/auth/login?")


def test_user_whom_a_middleware_has_read_is_read_again(signed_in, settings):
    """A client may send its form slowly, after a middleware has asked who it is."""
    page = signed_in.open("/auth/account/organizations/create")
    settings.MIDDLEWARE = [*settings.MIDDLEWARE, f"{__name__}.ends_session_after_reading_the_user"]
    signed_in.client.handler.load_middleware()

    sent = signed_in.post(page)

    assert sent.status == 303
    assert sent.location.startswith("/auth/login?")


def ends_session_after_reading_the_user(get_response):
    def answer(request):
        caller = identity.of(request).caller
        assert caller.person.email == ANN
        revocation.revoke_users([user()])
        return get_response(request)

    return answer


def test_rows_are_shared_until_a_change(api, ann, django_assert_num_queries):
    caller = bearer.identify(Secret(api.log_in(ANN)["access_token"]))
    caller.share()
    with django_assert_num_queries(0):
        callers = [caller.again(shared=True), caller.again(shared=True)]
        for one in callers:
            one.require_live()
    callers[0].person.account.name = "Refused"
    assert callers[1].person.account_row.name == caller.again(shared=True).person.account.name == ""

    caller.stop_sharing()

    with django_assert_num_queries(1):
        caller.again(shared=True).require_live()


def test_rows_are_shared_for_a_moment(api, ann, django_assert_num_queries, monkeypatch):
    """A page may wait for a server of the project, and rights are withdrawn meanwhile."""
    caller = bearer.identify(Secret(api.log_in(ANN)["access_token"]))
    caller.share()
    with django_assert_num_queries(0):
        assert caller.again(shared=True).person.email == ANN
    later = monotonic() + 1
    monkeypatch.setattr(bearer, "monotonic", lambda: later)

    revocation.revoke_users([user()])

    with django_assert_num_queries(1), pytest.raises(errors.InvalidToken):
        caller.again(shared=True).require_live()


def test_route_that_reads_after_a_form_sees_what_the_form_has_changed(signed_in, monkeypatch):
    """The form of a section of the project may write to the user itself."""
    [profile_section] = [section for section in shown() if section.name == "profile"]
    [name_form] = [form for form in profile_section.forms if form.name == "name"]
    answers = []

    def send(visitor, body):
        get_user_model().objects.update(first_name=body["name"])
        answers.append(visitor.call("me", "GET"))
        return answers[0]

    page = signed_in.open("/auth/account/profile/name")
    with monkeypatch.context() as patched:
        patched.setitem(name_form.__dict__, "send", send)
        signed_in.post(page, name="Newname")

    assert answers[0].data["first_name"] == "Newname"


def test_refused_change_is_not_shown(signed_in):
    page = signed_in.open("/auth/account/profile/name")

    page = signed_in.post(page, name="x" * 1000)

    assert page.errors
    assert "x" * 100 not in signed_in.open("/auth/account/profile").text


@pytest.mark.parametrize("path", ["login", "account/profile", "account/security"])
def test_page_is_one_request_of_the_flood_limit(path, signed_in, monkeypatch):
    counted = []
    count = throttling.count
    monkeypatch.setattr(
        throttling, "count", lambda scope, *a, **k: counted.append(scope) or count(scope, *a, **k)
    )

    signed_in.visit(f"/auth/{path}")

    assert counted == ["default", "default"]  # for its account and for the devices of its network


@pytest.mark.parametrize("method", ["PUT", "DELETE", "OPTIONS"])
def test_request_of_another_method_counts_too(method, person, configure):
    configure(THROTTLE={"RATES": {"default": "2/min"}})
    send = [
        person.client.generic(method, "/auth/login", headers={"Accept": ACCEPT}) for _ in range(3)
    ]

    assert [answer.status_code for answer in send] == [405, 405, 429]
