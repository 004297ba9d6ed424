"""Checks that every response with tokens sets the cookies too, on any route."""

from __future__ import annotations

import json

from authservice.kernel.http import envelope

KEPT = {"access_token": "authservice_access", "refresh_token": "authservice_refresh"}


def watch(get_response):
    def checked(request):
        response = get_response(request)
        for field, name in KEPT.items():
            token = _data(response).get(field)
            cookie = response.cookies.get(envelope.cookie_name(name))
            assert not token or (cookie and cookie.value == token), f"{request.path}: no {name}"
        return response

    return checked


def _data(response):
    if "application/json" not in response.headers.get("Content-Type", ""):
        return {}
    data = json.loads(response.content or b"{}").get("data")
    return data if isinstance(data, dict) else {}
