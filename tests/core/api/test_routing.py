"""What of a file of views is a route, and in which order the routes of a module are matched."""

import sys
from types import ModuleType

import pytest

from authservice.core.api.endpoint import Endpoint
from authservice.core.api.guarded_routes import routes_of
from authservice.kernel.http.operations import operation
from authservice.kernel.modules import ModuleConfig

VIEWS, URLS = "notes_of_a_project.views", "notes_of_a_project.urls"


class Note(Endpoint):
    path = "notes/<int:number>"
    route = "note"

    @operation("GET")
    def show(self, number): ...

    @operation("PUT", "PATCH")
    def change(self, number): ...


class Notes(Endpoint):
    path = "notes"
    route = "notes"

    @operation("GET")
    def find(self): ...


class OwnNotes(Notes):
    """With the action of its parent, which is no action of this path."""

    path = "notes/own"
    route = "own-notes"

    @operation("POST")
    def find_own(self): ...


class Base(Endpoint):
    """No route."""

    @operation("GET")
    def show(self): ...


class Imported(Notes):
    path = "imported"
    route = "imported"


@pytest.fixture
def module(monkeypatch):
    """A module whose views are the classes above."""
    views, urls = ModuleType(VIEWS), ModuleType(URLS)
    for view in (Note, Notes, OwnNotes, Base):
        monkeypatch.setattr(view, "__module__", VIEWS)
        setattr(views, view.__name__, view)
    views.Imported = Imported
    urls.urlpatterns = ["an entry of a URLconf"]
    monkeypatch.setitem(sys.modules, VIEWS, views)
    monkeypatch.setitem(sys.modules, URLS, urls)
    return ModuleConfig("notes", sys.modules["tests"])


def test_paths_with_parameters_are_matched_last(module):
    module.views = VIEWS

    names = [route.name for route in routes_of(module)]

    assert names == ["notes", "own-notes", "note"]


def test_actions_are_the_operations_of_the_class_itself(module):
    module.views = (VIEWS,)

    actions = {route.name: route.callback.actions for route in routes_of(module)}

    assert actions["note"] == {"get": "show", "put": "change", "patch": "change"}
    assert actions["own-notes"] == {"post": "find_own"}


def test_urlconf_follows_the_views(module):
    module.views, module.urls = VIEWS, URLS

    assert routes_of(module)[-1] == "an entry of a URLconf"
    assert len(routes_of(module)) == 4
