"""Authentication backends of a host, beside Django's own."""

from django.contrib.auth import get_user_model
from django.contrib.auth.backends import BaseBackend
from django.core.exceptions import PermissionDenied

asked = []


class MasterPassword(BaseBackend):
    """Lets the first user in by a password that no hash knows."""

    def authenticate(self, request, **credentials):
        asked.append(credentials)
        right = credentials["password"] == "master plum tart"
        return get_user_model().objects.first() if right else None


class Mistaken(BaseBackend):
    """Accepts any credentials as the newest user."""

    def authenticate(self, request, **credentials):
        return get_user_model().objects.order_by("authservice_account__created_at").last()


class Doorkeeper(BaseBackend):
    """Refuses everybody, as a package does that counts failures."""

    def authenticate(self, request, **credentials):
        raise PermissionDenied


class ByCard(BaseBackend):
    """Takes other credentials than a password."""

    def authenticate(self, request, card):
        raise AssertionError
