"""Composition root: the URLconfs of the installed modules, then an enveloped 404."""

from django.urls import include, path, re_path

from authservice.kernel.http.views import Nowhere
from authservice.kernel.modules import urlconfs

app_name = "authservice"

urlpatterns = [
    *(path("", include(urlconf)) for urlconf in urlconfs()),
    re_path(r"", Nowhere.as_view({"get": "nowhere"}), name="nowhere"),
]
