"""The URLconf of bookmarks, for a view without the envelope and for a route without a name."""

from django.http import HttpResponse
from django.urls import path

from authservice.core.api.endpoint import Endpoint
from authservice.kernel.http.envelope import answer
from authservice.kernel.http.operations import operation
from tests.toy_module.bookmarks.conf import conf


class Limit(Endpoint):
    @operation(answer=int)
    def show(self):
        """Show the limit

        How many bookmarks you may have.
        """
        return answer(conf.most)


def welcome(request):
    return HttpResponse("Bookmarks")


urlpatterns = [
    path("bookmarks/limit", Limit.as_view({"get": "show"})),
    path("bookmarks/welcome", welcome, name="bookmarks-welcome"),
]
