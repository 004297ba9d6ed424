"""The check of the module."""

from django.core.checks import register

from authservice.kernel.checks import declare, message
from tests.toy_module.bookmarks.conf import conf

declare(
    {
        "bookmarks.W001": (
            "BOOKMARKS.MOST is above 1000: a list of bookmarks takes long.",
            "Set a lower number.",
        )
    }
)


def connect():
    register(check_number, "authservice")


def check_number(**_):
    return [message("bookmarks.W001")] if conf.most > 1000 else []
