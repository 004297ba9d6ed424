"""The files of the page about Next.js compile with its types and those of the client."""

import pytest

from tests.clients import nextjs, npm

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def app(clients, tmp_path_factory):
    folder = tmp_path_factory.mktemp("nextjs")
    nextjs.write(folder, clients / "typescript")
    return folder


def test_types_of_the_nextjs_page_are_right(clients, app):
    assert npm.output(str(clients / "node_modules/.bin/tsc"), "-p", ".", folder=app) == (0, "")


def test_every_file_of_the_nextjs_page_was_found():
    assert sorted(nextjs.files()) == [
        "app/login/page.tsx",
        "app/orders/log-out.tsx",
        "app/orders/page.tsx",
        "app/session/page.tsx",
        "lib/auth.ts",
        "lib/session.ts",
        "next.config.ts",
        "proxy.ts",
    ]
