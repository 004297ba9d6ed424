from django.contrib.auth.base_user import AbstractBaseUser
from django.db import models


class Member(AbstractBaseUser):
    name = models.CharField(max_length=30, unique=True)
    is_superuser = models.BooleanField(default=False)

    USERNAME_FIELD = "name"

    class Meta:
        app_label = "nomail"

    def __str__(self):
        return self.name
