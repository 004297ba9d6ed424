from django.contrib.auth.base_user import AbstractBaseUser, BaseUserManager
from django.contrib.auth.models import PermissionsMixin
from django.db import models


class User(AbstractBaseUser, PermissionsMixin):
    email = models.EmailField(unique=True)
    is_active = models.BooleanField(default=True)
    is_staff = models.BooleanField(default=False)
    full_name = models.CharField(max_length=80, help_text="As in a passport.")
    born = models.DateField(null=True)
    badge = models.CharField(max_length=10, unique=True, null=True)  # noqa: DJ001 unique if any
    friends = models.ManyToManyField("self", symmetrical=False, blank=True)

    objects = BaseUserManager()

    USERNAME_FIELD = "email"
    EMAIL_FIELD = "email"
    REQUIRED_FIELDS = ["full_name", "born"]

    def __str__(self) -> str:
        return self.email

    @property
    def initials(self) -> str:
        return "".join(word[0] for word in self.full_name.split())

    def forget(self) -> None:
        """A method."""


class Profile(models.Model):
    user = models.OneToOneField(User, models.CASCADE)
    city = models.CharField(max_length=100)

    def __str__(self) -> str:
        return self.city


class Note(models.Model):
    user = models.ForeignKey(User, models.CASCADE)

    def __str__(self) -> str:
        return str(self.pk)
