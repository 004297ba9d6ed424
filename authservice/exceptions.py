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

# Codes of the framework, each with the code of the service that has the same meaning.
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
    if response is None:
        return None
    if isinstance(exc, ValidationError):
        message = _first(exc.detail)
        data: dict[str, Any] = {"code": errors.ValidationFailed.code, "message": message}
        if api.error_details:
            data["details"] = response.data
        response.data = {"data": data, "message": message}
        return response
    fields = response.data if isinstance(response.data, dict) else {}
    message = str(fields["detail"]) if "detail" in fields else _first(response.data)
    if "code" in fields:  # an error of this service, which may have further fields
        data = {**fields, "code": str(fields["code"]), "message": message}
        data.pop("detail", None)
        response.data = {"data": data, "message": message}
        return response
    code = getattr(getattr(exc, "detail", None), "code", None) or _NO_CODE
    if code == _NO_CODE and response.status_code in _BY_STATUS:
        code = _BY_STATUS[response.status_code].code
    else:
        code = _CODES.get(code, str(code).upper())
    response.data = {"data": {"code": code, "message": message}, "message": message}
    return response


def _first(detail: Any, name: str = "") -> str:
    """The first message of nested errors, after the path of its field."""
    if isinstance(detail, dict):
        for key, value in detail.items():
            path = f"{name}.{key}" if name else str(key)
            return _first(value, name if key == "non_field_errors" else path)
    if isinstance(detail, list):
        # The errors of a list: an item without errors has an empty dict.
        index, value = next(((number, item) for number, item in enumerate(detail) if item), (0, ""))
        nested = isinstance(value, dict | list)
        return _first(value, f"{name}[{index}]" if nested else name)
    return f"{name}: {detail}" if name else str(detail)
