"""A new project protects its own views of every kind by the lines of docs/views.rst, under gunicorn
and uvicorn."""

import difflib

import pytest

from tests.host_views.new_project import SERVERS, VIEWS, Client, running

# All tests share the servers, so one worker runs them.
pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("new project")]
MOST = 12
ANN = {"email": "ann@example.com", "password": "plum tart 42 windows"}


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    with running(tmp_path_factory.mktemp("project")) as project:
        Client(project.ports["WSGI"]).post("signup", **ANN)
        yield project


def test_published_lines_change_at_most_twelve_lines(project):
    changed = [
        line
        for name, before in project.before.items()
        for line in difflib.ndiff(before.splitlines(), project.after[name].splitlines())
        if line.startswith("+ ") and line != "+ "
    ]

    assert len(changed) <= MOST


@pytest.fixture(params=SERVERS)
def server(request, project):
    """The name of a server of the project."""
    return request.param


@pytest.fixture(params=["bearer", "cookie"])
def signed_in(request, project, server):
    """Two clients that logged in at this server."""
    client, other = Client(project.ports[server]), Client(project.ports[server])
    for one in (client, other):
        one.token = one.post("login", **ANN)["access_token"]
        if request.param == "cookie":
            one.token = ""
        else:
            one.cookies.clear()
    return client, other


def test_view_knows_the_user_by_one_statement_until_the_session_ends(project, server, signed_in):
    client, other = signed_in
    for view in VIEWS:
        assert Client(client.port).get(view).status == 401
        answer = client.get(view)
        assert (view, answer.status, answer.body) == (view, 200, {"email": ANN["email"]})
        assert len(answer.statements) == 1, answer.statements

    [elsewhere] = {*project.ports.values()} - {client.port}
    client.copy(elsewhere).post("logout")

    for view in VIEWS:
        assert (view, client.get(view).status) == (view, 401)
        assert (view, other.get(view).status) == (view, 200)
