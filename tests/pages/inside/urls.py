"""A project that knows only Django: its views, and its logout."""

from django.contrib.auth import BACKEND_SESSION_KEY, get_user_model, load_backend, login, logout
from django.contrib.auth.decorators import (
    login_required,
    permission_required,
    user_passes_test,
)
from django.contrib.auth.mixins import LoginRequiredMixin
from django.contrib.auth.views import LogoutView
from django.http import HttpResponse, JsonResponse
from django.urls import include, path
from django.views import View
from rest_framework.decorators import api_view, authentication_classes
from rest_framework.response import Response

from authservice.authentication import AuthserviceAuthentication
from authservice.decorators import proven


def whoami(request):
    """The user as Django's own tools see them; nobody is ""."""
    return HttpResponse(request.user.get_username())


async def whoami_async(request):
    return HttpResponse((await request.auser()).get_username())


def claims(request):
    return JsonResponse(dict(request.auth.claims) if request.auth else {})


@login_required
def orders(request):
    return HttpResponse(f"orders of {request.user.get_username()}")


@user_passes_test(lambda user: user.is_staff)
def warehouse(request):
    return HttpResponse("warehouse")


@permission_required("auth.view_user", raise_exception=True)
def customers(request):
    return HttpResponse("customers")


class Invoices(LoginRequiredMixin, View):
    def get(self, request):
        return HttpResponse(f"invoices of {request.user.get_username()}")

    post = get


@permission_required("auth.add_group")
def groups(request):
    return HttpResponse(f"groups of {request.user.get_username()}")


def act_as(request, pk):
    """What a package for staff does, which knows only Django's session."""
    assert request.user.is_authenticated
    backend = request.session[BACKEND_SESSION_KEY]
    load_backend(backend)
    login(request, get_user_model().objects.get(pk=pk), backend=backend)
    return HttpResponse()


def close_account(request):
    """Deletes the user before Django asks who it is."""
    get_user_model().objects.filter(pk=request.auth.claims["sub"]).delete()
    name = request.user.get_username()
    logout(request)
    return HttpResponse(name)


@api_view(["GET", "POST"])
@authentication_classes([AuthserviceAuthentication])
def rest(request):
    return Response({"user": request.user.get_username(), "session": bool(request.auth)})


@proven("aal1", 600, redirect=True)
def transfer(request):
    return HttpResponse(f"transfer of {request.user.get_username()}")


@proven("aal2", 600, redirect=True)
def vault(request):
    return HttpResponse("vault")


urlpatterns = [
    path("transfer", transfer),
    path("vault", vault),
    path("auth/", include("authservice.urls")),
    path("whoami", whoami),
    path("whoami-async", whoami_async),
    path("claims", claims),
    path("orders", orders),
    path("groups", groups),
    path("warehouse", warehouse),
    path("customers", customers),
    path("invoices", Invoices.as_view()),
    path("rest", rest),
    path("act-as/<pk>", act_as),
    path("close-account", close_account),
    path("leave", LogoutView.as_view(next_page="/whoami")),
]
