"""A middleware of the project that activates a language of its own choice."""

from django.utils import translation


def french(get_response):
    def middleware(request):
        with translation.override("fr"):
            return get_response(request)

    return middleware
