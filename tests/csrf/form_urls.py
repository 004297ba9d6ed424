"""URLs of a host whose templates have forms, and the service."""

from django.contrib.auth import get_user_model, login, logout
from django.contrib.auth.forms import AuthenticationForm
from django.http import HttpResponse
from django.middleware.csrf import get_token
from django.urls import include, path
from django.views.decorators.csrf import csrf_exempt

from authservice.decorators import login_required


def name(request):
    return HttpResponse(getattr(request.user, "email", ""))


def log_in(request):
    return HttpResponse(str(AuthenticationForm(request, request.POST).errors))


def leave(request):
    logout(request)
    return HttpResponse("done")


def enter(request):
    user = get_user_model().objects.get(email=request.POST["email"])
    login(request, user, backend="django.contrib.auth.backends.ModelBackend")
    return HttpResponse("done")


urlpatterns = [
    path("enter", csrf_exempt(enter)),
    path("leave", csrf_exempt(leave)),
    path("auth/", include("authservice.urls")),
    path("form", lambda request: HttpResponse(get_token(request))),
    path("page", login_required(redirect=True)(name)),
    path("mine", login_required(name)),
    path("plain-form", name),
    path("exempt-from-django", csrf_exempt(login_required(name))),
    path("accounts/login/", log_in),
]
