"""A project that knows only Django: its views, and its logout."""

from django.contrib.auth import BACKEND_SESSION_KEY, get_user_model, load_backend, login
from django.contrib.auth.decorators import login_required
from django.contrib.auth.mixins import LoginRequiredMixin
from django.contrib.auth.views import LogoutView
from django.http import HttpResponse, JsonResponse
from django.urls import include, path
from django.views import View
from rest_framework.decorators import api_view, authentication_classes
from rest_framework.response import Response

from authservice.authentication import AuthserviceAuthentication


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


class Invoices(LoginRequiredMixin, View):
    def get(self, request):
        return HttpResponse(f"invoices of {request.user.get_username()}")

    post = get


def act_as(request, pk):
    """What a package for staff does, which knows only Django's session."""
    assert request.user.is_authenticated
    backend = request.session[BACKEND_SESSION_KEY]
    load_backend(backend)
    login(request, get_user_model().objects.get(pk=pk), backend=backend)
    return HttpResponse()


@api_view(["GET", "POST"])
@authentication_classes([AuthserviceAuthentication])
def rest(request):
    return Response({"user": request.user.get_username(), "session": bool(request.auth)})


urlpatterns = [
    path("auth/", include("authservice.urls")),
    path("whoami", whoami),
    path("whoami-async", whoami_async),
    path("claims", claims),
    path("orders", orders),
    path("invoices", Invoices.as_view()),
    path("rest", rest),
    path("act-as/<pk>", act_as),
    path("leave", LogoutView.as_view(next_page="/whoami")),
]
