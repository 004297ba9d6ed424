"""The errors of the host project's REST views in the envelope of this service.

    REST_FRAMEWORK = {"EXCEPTION_HANDLER": "authservice.exceptions.exception_handler"}

A front end then handles errors of both in one way: `{"data": {"code", "message"}, "message"}`.
"""

from __future__ import annotations

from typing import Any

from rest_framework.exceptions import ValidationError
from rest_framework.response import Response
from rest_framework.views import exception_handler as framework_handler

from authservice.kernel import errors
from authservice.kernel.sections import api

# The codes of the framework whose meaning an error of the service has.
_CODES = {
    "not_authenticated": errors.Unauthorized.code,
    "authentication_failed": errors.InvalidToken.code,
    "permission_denied": errors.Forbidden.code,
    "not_found": errors.NotFound.code,
    "method_not_allowed": errors.MethodNotAllowed.code,
    "unsupported_media_type": errors.UnsupportedMediaType.code,
    "parse_error": errors.InvalidJSON.code,
    "throttled": errors.TooManyRequests.code,
}
# For errors without a code of their own, such as Django's `Http404` and `PermissionDenied`.
_BY_STATUS = {403: errors.Forbidden, 404: errors.NotFound, 500: errors.InternalError}
_NO_CODE = "error"  # the framework's default, whatever the status


def exception_handler(exc: Exception, context: dict[str, Any]) -> Response | None:
    """The response of the REST framework's own handler, in our envelope. An error of a serializer
    names its first field; with `API.ERROR_DETAILS` the response lists all."""
    response = framework_handler(exc, context)
    if response is not None:
        response.data = _envelope(exc, response)
    return response


def _envelope(exc: Exception, response: Response) -> dict[str, Any]:
    if isinstance(exc, ValidationError):
        message = _first(exc.detail)
        data = {"code": errors.ValidationFailed.code, "message": message}
        if api.error_details:
            data["details"] = response.data
        return {"data": data, "message": message}
    given = response.data if isinstance(response.data, dict) else {}
    message = str(given["detail"]) if "detail" in given else _first(response.data)
    data = {"code": _code(exc, given, response.status_code), "message": message}
    if "code" in given:  # an error of this service, which may have further fields
        data = {**given, **data}
        data.pop("detail", None)
    return {"data": data, "message": message}


def _code(exc: Exception, given: dict[str, Any], status: int) -> str:
    if "code" in given:
        return str(given["code"])
    code = getattr(getattr(exc, "detail", None), "code", None) or _NO_CODE
    if code == _NO_CODE and status in _BY_STATUS:
        return _BY_STATUS[status].code
    return _CODES.get(code, str(code).upper())


def _first(detail: Any, name: str = "") -> str:
    """The first message of nested errors, after the path of its field."""
    if isinstance(detail, dict):
        for key, value in detail.items():
            path = f"{name}.{key}" if name else str(key)
            return _first(value, name if key == "non_field_errors" else path)
    if isinstance(detail, list):
        place, value = next(((at, one) for at, one in enumerate(detail) if one), (0, ""))
        nested = isinstance(value, dict | list)
        return _first(value, f"{name}[{place}]" if nested else name)
    return f"{name}: {detail}" if name else str(detail)
