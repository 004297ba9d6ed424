from django.contrib.auth.models import AbstractUser, UserManager
from django.db import models


class ActiveUserManager(UserManager):
    def get_queryset(self) -> models.QuerySet:
        return super().get_queryset().filter(is_active=True)


class User(AbstractUser):
    objects = ActiveUserManager()
    all_users = models.Manager()
