"""A refresh that fails in code of the project, and the transaction that it then needs."""

import pytest
from django.db import connections
from django.test.utils import CaptureQueriesContext

from authservice.kernel import databases, modules
from authservice.kernel.events import EventListener
from tests.support.slots import listening

pytestmark = pytest.mark.django_db(transaction=True)


def refresh(api, tokens):
    return api.post("refresh", refresh_token=tokens["refresh_token"]).status


class Listener(EventListener):
    """Records whether it was called in a transaction."""

    def __init__(self, listening):
        self.listening, self.inside = listening, []

    def listens(self, action):
        return self.listening

    def record(self, event):
        self.inside.append(connections[databases.primary()].in_atomic_block)


def raising(*_, **__):
    raise RuntimeError


def test_refresh_token_stays_valid_if_a_claims_hook_raises(robust, configure):
    tokens = robust.sign_up()
    configure(CORE={"CLAIMS_HOOK": f"{__name__}.raising"})
    assert refresh(robust, tokens) == 500

    configure(CORE={})
    assert refresh(robust, tokens) == 200


def test_refresh_token_stays_valid_if_a_listener_raises(robust):
    tokens = robust.sign_up()
    with listening(raising):
        assert refresh(robust, tokens) == 500

    assert refresh(robust, tokens) == 200


@pytest.mark.parametrize("listens", [True, False])
def test_refresh_has_a_transaction_only_for_a_listener(api, listens):
    tokens = api.sign_up()
    listener = Listener(listens)

    of_users = connections[databases.primary()]
    with modules.plugged("event_listener", listener), CaptureQueriesContext(of_users) as captured:
        assert refresh(api, tokens) == 200

    commits = sum(query["sql"] == "COMMIT" for query in captured.captured_queries)
    assert (commits, listener.inside) == (int(listens), [True] * listens)
