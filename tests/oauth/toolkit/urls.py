"""The routes of the provider. The tests add clients and users as they do at oidc-provider-mock."""

from __future__ import annotations

import json

from django.contrib.auth.models import User
from django.contrib.auth.views import LoginView
from django.http import HttpRequest, JsonResponse
from django.urls import include, path
from django.views.decorators.csrf import csrf_exempt
from oauth2_provider.generators import generate_client_secret
from oauth2_provider.models import Application

from tests.oauth.toolkit.claims import CLAIMS


@csrf_exempt
def add_client(request: HttpRequest) -> JsonResponse:
    secret = generate_client_secret()
    added = Application.objects.create(
        client_secret=secret,
        client_type=Application.CLIENT_CONFIDENTIAL,
        authorization_grant_type=Application.GRANT_AUTHORIZATION_CODE,
        redirect_uris=" ".join(json.loads(request.body)["redirect_uris"]),
        algorithm=Application.RS256_ALGORITHM,
    )
    return JsonResponse({"client_id": added.client_id, "client_secret": secret})


@csrf_exempt
def add_user(request: HttpRequest, subject: str) -> JsonResponse:
    """The password of each user is the subject."""
    CLAIMS[subject] = json.loads(request.body)
    if not User.objects.filter(username=subject).exists():
        User.objects.create_user(subject, password=subject)
    return JsonResponse({})


urlpatterns = [
    path("oauth2/clients", add_client),
    path("users/<subject>", add_user),
    path("login", LoginView.as_view()),
    path("", include("oauth2_provider.urls", namespace="oauth2_provider")),
]
