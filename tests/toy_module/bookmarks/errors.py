"""The error of the module."""

from authservice.kernel.errors import Fault


class TooManyBookmarks(Fault):
    status = 403
    code = "TOO_MANY_BOOKMARKS"
    message = "You have too many bookmarks."
    cause = "The user has as many bookmarks as `BOOKMARKS.MOST` allows."
    remedy = "Wait until one has expired."
