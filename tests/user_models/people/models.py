"""User models that projects have; the one of the settings is that of the tests."""

import uuid
from typing import ClassVar

from django.contrib.auth.base_user import AbstractBaseUser, BaseUserManager
from django.db import models
from django.db.models.functions import Now, Upper
from django.utils import timezone


class Person(AbstractBaseUser):
    email = models.EmailField(blank=True)
    status = models.CharField(max_length=10, default="member")

    objects = BaseUserManager()

    class Meta:
        abstract = True

    def __str__(self) -> str:
        return self.get_username()


class WithFlag(models.Model):
    is_active = models.BooleanField(default=True)

    class Meta:
        abstract = True


class NumberUser(Person):
    number = models.IntegerField(unique=True)

    USERNAME_FIELD = "number"


class CodeUser(Person):
    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    code = models.UUIDField(unique=True)

    USERNAME_FIELD = "code"


class PhoneUser(Person):
    phone = models.CharField(max_length=16, unique=True)

    USERNAME_FIELD = "phone"


class ActiveNumberUser(WithFlag, Person):
    number = models.IntegerField(unique=True)

    USERNAME_FIELD = "number"


class ActiveCodeUser(WithFlag, Person):
    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    code = models.UUIDField(unique=True)

    USERNAME_FIELD = "code"


class ActivePhoneUser(WithFlag, Person):
    phone = models.CharField(max_length=16, unique=True)

    USERNAME_FIELD = "phone"


class ExampleManager(BaseUserManager):
    def create_superuser(self, email, password=None, **fields):
        user = self.model(email=self.normalize_email(email), is_admin=True, **fields)
        user.set_password(password)
        user.save(using=self._db)
        return user


class ExampleUser(AbstractBaseUser):
    """The full example of Django's documentation."""

    email = models.EmailField(unique=True)
    is_active = models.BooleanField(default=True)
    is_admin = models.BooleanField(default=False)

    objects = ExampleManager()

    USERNAME_FIELD = "email"
    REQUIRED_FIELDS: ClassVar = []

    def __str__(self) -> str:
        return self.email

    def has_perm(self, perm, obj=None):
        return True

    def has_module_perms(self, app_label):
        return True

    @property
    def is_staff(self):
        return self.is_admin


class RankUser(Person):
    """The login name is one of the choices."""

    rank = models.CharField(max_length=16, unique=True, choices=[("chief", "Chief")])

    USERNAME_FIELD = "rank"


def upper(name):
    """A generated column. NULL makes it NULL."""
    return models.GeneratedField(
        expression=Upper(name),
        output_field=models.CharField(max_length=150, null=True),  # noqa: DJ001
        db_persist=True,
        null=True,
    )


class StrictUser(WithFlag, AbstractBaseUser):
    """Columns that no sign-up fills."""

    username = models.CharField(max_length=150, unique=True)
    date_joined = models.DateTimeField(default=timezone.now)
    email = models.EmailField(unique=True)
    nickname = models.CharField(max_length=20, unique=True, null=True, blank=True)  # noqa: DJ001

    objects = BaseUserManager()

    USERNAME_FIELD = "username"

    def __str__(self) -> str:
        return self.username


class ColumnsUser(WithFlag, AbstractBaseUser):
    """One column of each kind that no sign-up fills."""

    username = models.CharField(max_length=150, unique=True)
    email = models.EmailField(unique=True)
    tenant = models.IntegerField(default=1)
    code = models.CharField(max_length=20, blank=True)
    nickname = models.CharField(max_length=20, null=True)  # noqa: DJ001
    alias = models.CharField(max_length=20, null=True, default=None)  # noqa: DJ001
    place = models.CharField(max_length=20, db_default="here")
    number = models.UUIDField(default=uuid.uuid4)
    seen_at = models.DateTimeField(auto_now_add=True)
    made_at = models.DateTimeField(db_default=Now())
    upper_code = upper("code")
    upper_nickname = upper("nickname")
    upper_username = upper("username")

    objects = BaseUserManager()

    USERNAME_FIELD = "username"

    def __str__(self) -> str:
        return self.username


class ParentUser(WithFlag, AbstractBaseUser):
    """The columns of a user are in two tables."""

    username = models.CharField(max_length=150, unique=True)
    tenant = models.IntegerField(default=1)
    code = models.CharField(max_length=20, blank=True)

    objects = BaseUserManager()

    USERNAME_FIELD = "username"

    class Meta:
        unique_together = (("tenant", "code"), ("tenant", "username"))

    def __str__(self) -> str:
        return self.username


class ChildUser(ParentUser):
    email = models.EmailField(blank=True)
