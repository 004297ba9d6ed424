"""Authentication backends of host projects, in addition to Django's own."""

from django.contrib.auth import get_user_model
from django.contrib.auth.backends import BaseBackend, ModelBackend
from django.core.exceptions import PermissionDenied
from django.db.models import Q

calls = []


class MasterPassword(BaseBackend):
    """Accepts one password that is not stored, for the first user."""

    def authenticate(self, request, **credentials):
        calls.append(credentials)
        correct = credentials["password"] == "master plum tart"
        return get_user_model().objects.first() if correct else None


class Mistaken(BaseBackend):
    """Accepts any credentials as the newest user."""

    def authenticate(self, request, **credentials):
        return get_user_model().objects.order_by("authservice_account__created_at").last()


class Upgrading(BaseBackend):
    """Reads the user itself, and stores another hash of the right password."""

    def authenticate(self, request, **credentials):
        password = credentials.pop("password")
        user = get_user_model().objects.filter(**credentials).first()
        if user is None or not user.check_password(password):
            return None
        user.set_password(password)
        user.save()
        return user


class RefusingBackend(BaseBackend):
    """Refuses every login, as packages that count failures may."""

    def authenticate(self, request, **credentials):
        raise PermissionDenied


class Broken(BaseBackend):
    """Has a fault of its own, such as an answer of another server that it cannot read."""

    def authenticate(self, request, **credentials):
        raise ValueError("a fault of the backend")


class ByCard(BaseBackend):
    """Accepts other credentials than a password, so it is not called."""

    def authenticate(self, request, card):
        raise AssertionError


class EmailBackend(ModelBackend):
    """The usual recipe: the name in the form is the address."""

    def authenticate(self, request, username=None, password=None, **kwargs):
        try:
            user = get_user_model().objects.get(email__iexact=username)
        except get_user_model().DoesNotExist:
            get_user_model()().set_password(password)
            return None
        return user if user.check_password(password) else None


class OnlyEmail(BaseBackend):
    """The same for an address under its own name."""

    def authenticate(self, request, email, password):
        user = get_user_model().objects.filter(email=email).first()
        return user if user and user.check_password(password) else None


class EmailOrUsername(ModelBackend):
    """The other recipe: both in one query."""

    def authenticate(self, request, username=None, password=None, **kwargs):
        model = get_user_model()
        found = model.objects.filter(Q(**{model.USERNAME_FIELD: username}) | Q(email=username))
        user = found.first()
        return user if user and user.check_password(password) else None
