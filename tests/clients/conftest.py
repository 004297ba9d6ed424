import pytest

from tests.clients import npm, typed
from tests.clients.servers import services
from tests.support.browser import chromium


def pytest_collection_modifyitems(items):
    for item in items:
        if item.path.parent.name == "clients":
            # All share the servers and the packages, so one worker runs them.
            item.add_marker(pytest.mark.xdist_group("clients"))


@pytest.fixture(scope="package")
def compiled(tmp_path_factory):
    """A copy of the clients, compiled with the strict settings of the package, and what the
    compiler says of the tests."""
    made = npm.copied(tmp_path_factory.mktemp("npm"))
    typed.write(made / "typescript" / "tests")
    tsc = ("../node_modules/.bin/tsc", "--project")
    npm.run(*tsc, "tsconfig.json", folder=made / "typescript")
    return made, npm.output(*tsc, "tsconfig.test.json", folder=made / "typescript")[1]


@pytest.fixture(scope="package")
def clients(compiled):
    return compiled[0]


@pytest.fixture(scope="package")
def running(tmp_path_factory):
    with services(tmp_path_factory.mktemp("services")) as both:
        yield both


@pytest.fixture(scope="package")
def bundled(clients, running):
    """The services, and their pages: the client alone in `/`, and both examples."""
    npm.bundle(clients, running)
    return running


@pytest.fixture(scope="package")
def browser(tmp_path_factory):
    with chromium(tmp_path_factory.mktemp("browser")) as opened:
        yield opened
