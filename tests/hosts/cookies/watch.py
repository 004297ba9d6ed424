"""No answer that carries tokens goes without the cookies, whichever route gave it."""

from __future__ import annotations

import json

from authservice.kernel.http import cookies

KEPT = {"access_token": "authservice_access", "refresh_token": "authservice_refresh"}


def watch(get_response):
    def asked(request):
        response = get_response(request)
        for field, name in KEPT.items():
            token = _told(response).get(field)
            cookie = response.cookies.get(cookies.name(name))
            assert not token or (cookie and cookie.value == token), f"{request.path}: no {name}"
        return response

    return asked


def _told(response):
    if "application/json" not in response.headers.get("Content-Type", ""):
        return {}
    data = json.loads(response.content or b"{}").get("data")
    return data if isinstance(data, dict) else {}
