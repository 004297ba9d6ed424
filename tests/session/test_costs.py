"""The number of SQL statements of each request with sessions, with each store."""

import pytest
from django.utils import timezone

from authservice.core.models import Session
from tests.support.statements import ALONG, statements

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("ungated")]


@pytest.fixture(autouse=True)
def _either(each_store):
    """Run each test with both stores: the cache neither saves nor adds a statement."""


@pytest.fixture
def tokens(api):
    api.sign_up()
    return api.log_in()


def cost(call):
    """The number of statements of the second call; the first one fills caches of the process."""
    call()
    return len(statements(call))


def test_me_costs_one_statement(api, tokens):
    assert cost(lambda: api.get("me", token=tokens["access_token"])) == 1


def test_me_costs_two_statements_when_the_last_use_is_written(api, tokens):
    def after_a_while():
        ago = timezone.now() - timezone.timedelta(minutes=6)
        Session.objects.update(last_used_at=ago)
        found = statements(lambda: api.get("me", token=tokens["access_token"]))
        return len(found)

    after_a_while()

    assert after_a_while() == 2


def test_login_costs_at_most_six_statements(api, tokens):
    assert cost(api.log_in) == 6 - 3 * ALONG


def test_login_with_a_session_limit_costs_at_most_eight_statements(api, tokens, settings):
    limit(settings, 100)

    assert cost(api.log_in) == 8 - 3 * ALONG


def test_login_that_ends_an_old_session_costs_at_most_nine_statements(api, tokens, settings):
    limit(settings, 1)

    assert cost(api.log_in) == 9 - 3 * ALONG


def test_refresh_costs_two_statements(api, tokens):
    valid = [tokens["refresh_token"]]

    def refresh():
        valid.append(api.post("refresh", refresh_token=valid[-1]).data["refresh_token"])

    assert cost(refresh) == 2


def test_logout_costs_four_statements(api):
    api.sign_up()
    several = [api.log_in()["access_token"] for _ in range(2)]

    assert cost(lambda: api.post("logout", token=several.pop())) == 4


def test_list_of_sessions_costs_two_statements(api, tokens):
    assert cost(lambda: api.get("sessions", token=tokens["access_token"])) == 2


def test_one_session_costs_two_statements(api, tokens):
    session_id = Session.objects.first().pk

    assert cost(lambda: api.get(f"sessions/{session_id}", token=tokens["access_token"])) == 2


def test_revoking_one_session_costs_five_statements(api, tokens):
    ids = [str(Session.objects.earliest("created_at").pk)]
    api.log_in()
    ids.append(str(Session.objects.latest("created_at").pk))

    def end():
        return api.request("DELETE", f"sessions/{ids.pop()}", token=tokens["access_token"])

    assert cost(end) == 5


def limit(settings, most):
    sessions = {**settings.AUTHSERVICE.get("SESSION", {}), "MAX_PER_USER": most}
    settings.AUTHSERVICE = {**settings.AUTHSERVICE, "SESSION": sessions}
