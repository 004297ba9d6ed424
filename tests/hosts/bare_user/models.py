from typing import ClassVar

from django.contrib.auth.base_user import AbstractBaseUser, BaseUserManager
from django.db import models


class User(AbstractBaseUser):
    number = models.CharField(max_length=40, unique=True)

    objects = BaseUserManager()

    USERNAME_FIELD = "number"
    REQUIRED_FIELDS: ClassVar = []

    def __str__(self) -> str:
        return self.number
