"""A route is declared in one place: each class of the package is routed once, with all its actions,
and no route hides another one."""

import re
from collections import Counter
from importlib import import_module
from pathlib import Path

import pytest
from django.urls import get_resolver

import authservice
from authservice.core.api.endpoint import Endpoint, NotFoundEndpoint
from tests.hosts.shipped import everything
from tests.support.mounted import mounted

TREE = Path(authservice.__file__).parent
PARAMETER = re.compile(r"<[^>]+>")
# Views that projects put into URLconfs of their own.
OWN_URLCONF = "authservice.compat.simplejwt.views"


@pytest.fixture(scope="module", autouse=True)
def _everything():
    with mounted(*everything(), login="session"):
        for path in TREE.rglob("*.py"):
            if re.search(r"^class \w+\(.*Endpoint\)|@operation\(", path.read_text(), re.MULTILINE):
                parts = path.relative_to(TREE.parent).with_suffix("").parts
                import_module(".".join(parts))
        yield


def subclasses(parent):
    for child in parent.__subclasses__():
        yield child
        yield from subclasses(child)


def endpoints():
    """Every class of the package with a path or an action. Bases of others have neither."""
    return [
        view
        for view in subclasses(Endpoint)
        if view.__module__.startswith("authservice.")
        and view.__module__ != OWN_URLCONF
        # Those that the pages derive at run time are no names of a file.
        and vars(import_module(view.__module__)).get(view.__name__) is view
        and ("path" in vars(view) or operations(view))
    ]


def operations(view):
    return {name for name, member in vars(view).items() if hasattr(member, "operation")}


def routes():
    return [
        route
        for route in get_resolver("authservice.urls").url_patterns
        if getattr(route.callback, "cls", NotFoundEndpoint) is not NotFoundEndpoint
    ]


def test_class_with_operations_is_routed_once():
    assert Counter(map(qualified, endpoints())) == Counter(
        qualified(route.callback.cls) for route in routes()
    )


def test_route_has_path_and_name_of_its_class():
    assert [
        (str(route.pattern), route.name)
        for route in routes()
        if vars(route.callback.cls)["path"] != str(route.pattern)
        or vars(route.callback.cls)["route"] != route.name
    ] == []


def test_each_operation_is_reached_by_a_method():
    assert {qualified(view): operations(view) for view in endpoints()} == {
        qualified(route.callback.cls): set(route.callback.actions.values()) for route in routes()
    }


def test_operations_of_a_class_have_methods_of_their_own():
    methods = {
        qualified(view): [
            method for name in operations(view) for method in getattr(view, name).operation.methods
        ]
        for view in endpoints()
    }

    assert {name for name, used in methods.items() if len(used) != len(set(used))} == set()
    assert {method for used in methods.values() for method in used} == {
        *("GET", "POST", "PUT", "PATCH", "DELETE")
    }


def test_no_two_routes_have_one_name_or_one_path():
    names = Counter(route.name for route in routes())
    paths = Counter(PARAMETER.sub("<>", str(route.pattern)) for route in routes())

    assert {name for name, count in (*names.items(), *paths.items()) if count > 1} == set()


def test_no_route_takes_requests_for_a_later_one():
    """As `oauth/<str:provider>` would, before `oauth/providers`."""
    first = {
        route.name: next(
            other.name for other in routes() if other.pattern.match(address(route)) is not None
        )
        for route in routes()
    }

    assert {name: taken_by for name, taken_by in first.items() if name != taken_by} == {}


def qualified(view):
    return f"{view.__module__}.{view.__name__}"


def address(route):
    return PARAMETER.sub("1", str(route.pattern))
