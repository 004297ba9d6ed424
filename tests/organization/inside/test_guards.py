"""Every permission, decorator, middleware and authentication class of the package refuses a session
that has ended and a user without the right, whatever `STATELESS.CHECK` says.

They are collected from the modules: a new one is tested as it is. `_ARGUMENTS` has a value for each
parameter of one that is made by a function.
"""

from __future__ import annotations

import inspect
import pkgutil
from functools import cache
from importlib import import_module
from types import ModuleType
from typing import Any

import pytest
from asgiref.sync import async_to_sync
from django.contrib.auth.models import AnonymousUser
from django.http import HttpResponse, JsonResponse
from django.test import AsyncClient, Client, override_settings
from django.urls import include, path
from django.views.decorators.csrf import csrf_exempt
from rest_framework.authentication import BaseAuthentication
from rest_framework.permissions import AllowAny, BasePermission
from rest_framework.response import Response
from rest_framework.views import APIView

import authservice
from authservice.authentication import AuthserviceAuthentication
from authservice.core.models import Session
from authservice.kernel import clock
from authservice.kernel.levels import Record
from authservice.organization.models import Membership
from tests.admin_api.people import promote
from tests.csrf.installed import installed
from tests.csrf.visitor import ACCESS
from tests.support.flows import Flows, prove
from tests.support.messenger.post import office
from tests.support.needs import stateless_login
from tests.support.people import change, deactivate, the_user

pytestmark = [pytest.mark.django_db, stateless_login]

_ARGUMENTS = {"minutes": 10, "least": "member", "permission": "reports.export"}
# Neither identifies a user: the one checks CSRF tokens, the other is no guard.
_OTHERS = {"CsrfMiddleware", "exempt"}


@cache
def public_modules(ending: str) -> list[ModuleType]:
    names = [found.name for found in pkgutil.walk_packages(authservice.__path__, "authservice.")]
    return [
        import_module(name)
        for name in names
        if name.rpartition(".")[2] == ending and ".core." not in name and ".kernel." not in name
    ]


def defined(ending: str) -> dict[str, Any]:
    """What the modules of this name define, by its public name."""
    return {
        name: value
        for module in public_modules(ending)
        for name, value in vars(module).items()
        if getattr(value, "__module__", "") == module.__name__
        and not name.startswith("_")
        and (inspect.isclass(value) or inspect.isfunction(value))
        and name not in _OTHERS
    }


def permissions() -> dict[str, type[BasePermission]]:
    return {
        name: value if inspect.isclass(value) else value(**arguments_of(value))
        for name, value in defined("permissions").items()
    }


def decorators() -> dict[str, Any]:
    return {
        name: value(*arguments_of(value).values()) if is_called(value) else value
        for name, value in defined("decorators").items()
    }


def is_called(decorator: Any) -> bool:
    """Whether it is called for a decorator, and so has no parameter for the view."""
    return "view" not in inspect.signature(decorator).parameters


def arguments_of(made_by: Any) -> dict[str, Any]:
    """Values for the parameters that have no default, except the view."""
    parameters = inspect.signature(made_by).parameters.values()
    required = [one.name for one in parameters if one.default is one.empty and one.name != "view"]
    return {name: _ARGUMENTS[name] for name in required}


def rest(**classes: Any) -> Any:
    def respond(self: Any, request: Any) -> Response:
        return Response({"reached": True})

    return type("Rest", (APIView,), {**classes, "get": respond, "post": respond}).as_view()


def plain(request: Any) -> HttpResponse:
    return HttpResponse("reached")


async def later(request: Any) -> HttpResponse:
    return HttpResponse("reached")


def guarded_views() -> dict[str, Any]:
    """A view for each permission and decorator, by its path."""
    ours = {"authentication_classes": (AuthserviceAuthentication,)}
    views = {name: rest(**ours, permission_classes=(cls,)) for name, cls in permissions().items()}
    for name, decorate in decorators().items():
        views[name], views[f"{name}-async"] = csrf_exempt(decorate(plain)), decorate(later)
    return views


def shown(request: Any) -> JsonResponse:
    """What a middleware says about the user."""
    organization = getattr(request, "organization", None)
    user = getattr(request, "user", AnonymousUser())
    return JsonResponse({"user": user.is_authenticated, "organization": bool(organization)})


async def shown_later(request: Any) -> JsonResponse:
    user = await request.auser() if hasattr(request, "auser") else AnonymousUser()
    found = await request.aorganization() if hasattr(request, "aorganization") else None
    return JsonResponse({"user": user.is_authenticated, "organization": bool(found)})


def authentication_classes() -> dict[str, type[BaseAuthentication]]:
    return {
        name: value
        for name, value in defined("authentication").items()
        if issubclass(value, BaseAuthentication)
    }


VIEWS = sorted(guarded_views())
MIDDLEWARE = {name: value.__module__ for name, value in defined("middleware").items()}
ENDINGS = {
    "logout": lambda person: person.post("logout"),
    "revocation": lambda person: Session.objects.filter(user=the_user(person.email)).update(
        ended_at="2020-01-01T00:00:00Z"
    ),
    "suspension": lambda person: deactivate(person.email),
    "suspension by the project": lambda person: change(person.email, is_active=False),
    "password of the project": lambda person: set_password(person.email),
    "reset": lambda person: reset(person),
    "deletion": lambda person: the_user(person.email).delete(),
}


def set_password(email: str) -> None:
    user = the_user(email)
    user.set_password("quince jelly 17 shutters")
    user.save()


def reset(person: Any) -> None:
    flows = Flows(person.api, office)
    token = flows.reset_token(person.email)
    body = {"email": person.email, "token": token, "new_password": "quince jelly 17 shutters"}
    assert person.api.request("POST", "reset-password", body).status == 200


@pytest.fixture(autouse=True, scope="module")
def _views():
    """A path for each guard. Once, since reading the routes takes longer than a test."""
    urls = ModuleType("guarded_urls")
    urls.urlpatterns = [
        path("auth/", include("authservice.urls")),
        *(path(f"guarded/{name}", view) for name, view in guarded_views().items()),
        path("shown", csrf_exempt(shown)),
        path("shown-later", csrf_exempt(shown_later)),
        *(
            path(
                f"class/{name}",
                rest(authentication_classes=(cls,), permission_classes=(AllowAny,)),
            )
            for name, cls in authentication_classes().items()
        ),
    ]
    with override_settings(ROOT_URLCONF=urls):
        yield


@pytest.fixture
def person(ann, bob, configure):
    """A user who passes every guard: a super admin and owner with a verified address, signed in
    with a second factor. The organization has another owner, so that the user can be deleted."""
    configure(STATELESS={"CHECK": "signature"})
    organization = ann.found("Acme")
    membership = Membership.objects.get(organization=organization)
    Membership.objects.create(
        organization=membership.organization, user=the_user(bob.email), role="owner"
    )
    promote(ann.email)
    prove(ann.email)
    Session.objects.filter(user=the_user(ann.email)).update(
        amr="pwd otp mfa", levels=Record.of_login(("pwd", "otp", "mfa"), clock.utc()).text
    )
    ann.switch(organization)
    return ann


def send(method: str, address: str, token: str) -> Any:
    headers = {"Authorization": f"Bearer {token}"}
    return Client().generic(method, address, headers=headers)


def test_every_kind_of_guard_is_found():
    assert len(permissions()) >= 7
    assert len(decorators()) >= 4
    assert set(MIDDLEWARE) == {"AuthserviceMiddleware", "OrganizationMiddleware"}
    assert set(authentication_classes()) == {"AuthserviceAuthentication"}


@pytest.mark.parametrize("name", VIEWS)
@pytest.mark.parametrize("ending", ENDINGS)
def test_guard_refuses_a_session_that_ended(person, name, ending):
    token, address = person.token, f"/guarded/{name}"
    for method in ("GET", "POST", "HEAD"):
        assert send(method, address, token).status_code == 200

    ENDINGS[ending](person)

    for method in ("GET", "POST", "HEAD", "PUT"):
        assert send(method, address, token).status_code in (401, 403), method


def test_guard_refuses_a_forged_request(person, configure):
    """A page of another site makes a browser send the token cookie, but not the CSRF pair."""
    configure(STATELESS={"CHECK": "signature"}, COOKIES={"ENABLED": True})
    client = Client()
    client.cookies[ACCESS] = person.token

    with installed():
        for name in VIEWS:
            assert client.get(f"/guarded/{name}").status_code == 200, name
            for method in ("POST", "PUT", "PATCH", "DELETE"):
                assert client.generic(method, f"/guarded/{name}").status_code == 403, name


@pytest.mark.parametrize("name", sorted(authentication_classes()))
@pytest.mark.parametrize("ending", ENDINGS)
def test_authentication_class_refuses_changes_of_a_session_that_ended(person, name, ending):
    token, address = person.token, f"/class/{name}"
    assert send("POST", address, token).status_code == 200

    ENDINGS[ending](person)

    for method in ("POST", "PUT", "PATCH", "DELETE"):
        assert send(method, address, token).status_code == 401, method


@pytest.mark.parametrize("name", sorted(MIDDLEWARE))
@pytest.mark.parametrize("ending", ENDINGS)
def test_middleware_knows_nobody_after_the_end(person, settings, name, ending):
    settings.MIDDLEWARE = [f"{MIDDLEWARE[name]}.{name}"]
    token = person.token
    for address in ("/shown", "/shown-later"):
        assert True in send("GET", address, token).json().values()

    ENDINGS[ending](person)

    for method in ("GET", "POST"):
        for address in ("/shown", "/shown-later"):
            assert True not in send(method, address, token).json().values()


# What a guard requires, and how the user loses it while the session lives.
LOST = {
    "IsSuperAdmin": lambda person: promote(person.email, flag=False),
    "IsEmailVerified": lambda person: change_email(person.email),
    "IsOrganizationMember": lambda person: leave(person.email),
    "HasOrganizationRole": lambda person: leave(person.email),
    "HasOrganizationPermission": lambda person: leave(person.email),
}


def change_email(email: str) -> None:
    change(email, email="other@example.com")


def leave(email: str) -> None:
    Membership.objects.filter(user=the_user(email)).delete()


@pytest.mark.parametrize("name", LOST)
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_guard_refuses_a_user_who_lost_the_right(person, name, method):
    token = person.token

    LOST[name](person)

    assert send(method, f"/guarded/{name}", token).status_code == 403


@pytest.mark.parametrize("name", [name for name in VIEWS if name.startswith("organization")])
def test_organization_decorator_refuses_a_former_member(person, name):
    leave(person.email)

    assert send("GET", f"/guarded/{name}", person.token).status_code == 403


def test_native_async_client_is_refused_too(person):
    token = person.token
    person.post("logout")
    for name in VIEWS:
        if name.endswith("-async"):
            headers = {"Authorization": f"Bearer {token}"}
            response = async_to_sync(AsyncClient().get)(f"/guarded/{name}", headers=headers)
            assert response.status_code == 401
