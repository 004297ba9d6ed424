"""Classes that a host may name in `REST_FRAMEWORK`; none may run for routes of authservice."""

from __future__ import annotations

from typing import Any, NoReturn

from rest_framework.authentication import BaseAuthentication
from rest_framework.filters import BaseFilterBackend
from rest_framework.metadata import BaseMetadata
from rest_framework.negotiation import BaseContentNegotiation
from rest_framework.pagination import BasePagination
from rest_framework.permissions import BasePermission
from rest_framework.throttling import BaseThrottle


def handle(*_: Any, **__: Any) -> NoReturn:
    raise AssertionError("a policy of the host was used")


class Authentication(BaseAuthentication):
    authenticate = handle


class Filter(BaseFilterBackend):
    filter_queryset = handle


class Metadata(BaseMetadata):
    determine_metadata = handle


class Negotiation(BaseContentNegotiation):
    select_parser = select_renderer = handle


class Pagination(BasePagination):
    paginate_queryset = handle


class Permission(BasePermission):
    has_permission = has_object_permission = handle


class Throttle(BaseThrottle):
    allow_request = handle
