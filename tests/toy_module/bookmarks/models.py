"""The table of bookmarks."""

from django.conf import settings
from django.db import models

from authservice.kernel import clock
from authservice.kernel.databases import PrimaryManager
from tests.toy_module.bookmarks.conf import conf


class Bookmark(models.Model):
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE)
    address = models.URLField()
    added_at = models.DateTimeField()

    objects = PrimaryManager()

    def __str__(self):
        return self.address


def expired_rows():
    return {"bookmarks": Bookmark.objects.filter(added_at__lte=clock.now() - conf.ttl)}
