"""A service with simplejwt, without authservice, that verifies tokens by the published keys.

A program of its own. Each line of its input is JSON: the settings first, and then tokens by name.
For each of these lines it writes one: by name the status of a request with that token, and what the
view knows of the user.
"""

import json
import sys

from django.conf import settings

given = json.loads(sys.stdin.readline())
settings.configure(
    SECRET_KEY="a secret of its own, which the issuer of the tokens does not know",
    INSTALLED_APPS=["django.contrib.auth", "django.contrib.contenttypes", "rest_framework"],
    **given,
)

import django  # noqa: E402

django.setup()

from rest_framework.response import Response  # noqa: E402
from rest_framework.test import APIRequestFactory  # noqa: E402
from rest_framework.views import APIView  # noqa: E402


class Invoices(APIView):
    def get(self, request):
        return Response({"user": request.user.id, "claims": sorted(request.auth.payload)})


def answer(token):
    request = APIRequestFactory().get("/", headers={"Authorization": f"Bearer {token}"})
    response = Invoices.as_view()(request)
    return response.status_code, response.data


for line in sys.stdin:
    answers = {name: answer(token) for name, token in json.loads(line).items()}
    print(json.dumps({"answers": answers, "modules": sorted(sys.modules)}), flush=True)
