"""A refresh that fails in code of the project, and the transaction that it then needs."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from authservice.kernel import modules

pytestmark = pytest.mark.django_db(transaction=True)


def refresh(api, tokens):
    return api.post("refresh", refresh_token=tokens["refresh_token"]).status


class Listener:
    """Records whether it was called in a transaction."""

    def __init__(self, listening):
        self.listening, self.inside = listening, []

    def listens(self, action):
        return self.listening

    def __call__(self, event):
        self.inside.append(connection.in_atomic_block)


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
    with modules.plugged("event_listener", raising):
        assert refresh(robust, tokens) == 500

    assert refresh(robust, tokens) == 200


@pytest.mark.parametrize("listens", [True, False])
def test_refresh_has_a_transaction_only_for_a_listener(api, listens):
    tokens = api.sign_up()
    listener = Listener(listens)

    with modules.plugged("event_listener", listener), CaptureQueriesContext(connection) as captured:
        assert refresh(api, tokens) == 200

    commits = sum(query["sql"] == "COMMIT" for query in captured.captured_queries)
    assert (commits, listener.inside) == (int(listens), [True] * listens)
