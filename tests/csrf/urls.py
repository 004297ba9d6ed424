"""URLs of a host with its own views and the service."""

from django.http import HttpResponse, JsonResponse
from django.urls import include, path
from django.views.decorators.csrf import csrf_exempt
from rest_framework.permissions import AllowAny
from rest_framework.response import Response
from rest_framework.views import APIView

from authservice.authentication import AuthserviceAuthentication
from authservice.csrf.middleware import exempt


def form(request):
    return HttpResponse("done")


class Notes(APIView):
    authentication_classes = (AuthserviceAuthentication,)
    permission_classes = (AllowAny,)

    def get(self, request):
        return Response({"email": getattr(request.user, "email", "")})

    post = get


def with_cookie(request):
    response = HttpResponse("done")
    response.set_cookie("own", "1")
    return response


async def later(request):
    return JsonResponse({"done": True})


urlpatterns = [
    path("auth/", include("authservice.urls")),
    path("form", form),
    path("cookie", with_cookie),
    path("later", later),
    path("django-exempt", csrf_exempt(form)),
    path("exempt", exempt(lambda request: HttpResponse("done"))),
    path("hooks", form),
    path("hooks/pay", form),
    path("hooksand", form),
    path("notes", Notes.as_view()),
]
