from __future__ import annotations

from collections.abc import Callable

from django.core.exceptions import RequestDataTooBig
from django.http import HttpRequest, HttpResponse


class Reader:
    """Reads the request and continues even if that fails."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        try:
            self.read(request)
        except (OSError, RequestDataTooBig, ValueError):
            request.unread = True
        return self._get_response(request)

    def read(self, request: HttpRequest) -> None:
        raise NotImplementedError


class Body(Reader):
    def read(self, request: HttpRequest) -> None:
        request.seen = request.body


class Form(Reader):
    def read(self, request: HttpRequest) -> None:
        request.seen = request.POST
