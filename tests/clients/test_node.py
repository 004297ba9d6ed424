"""The TypeScript client in Node, against the example project."""

import pytest

from authservice.core.tokens.signing import ring
from tests.clients import npm

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("file", ["sign_in", "refresh", "organizations"])
def test_client_in_node(clients, running, file):
    npm.run(
        *("node", "--test", f"build/{file}.test.js"),
        folder=clients / "typescript",
        AUTHSERVICE_URL=running.bearer.url,
        AUTHSERVICE_MAILBOX=str(running.bearer.mailbox),
        AUTHSERVICE_SIGNING_KEY=ring().active.signing.hex(),
    )
