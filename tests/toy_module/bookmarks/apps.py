"""A module of a project: users keep bookmarks. It touches no file outside of its folder."""

from authservice.kernel import modules
from authservice.kernel.actions import Action


class Bookmarks(modules.ModuleConfig):
    name = "tests.toy_module.bookmarks"
    label = "bookmarks"
    views = "tests.toy_module.bookmarks.views"
    urls = "tests.toy_module.bookmarks.urls"
    expired_rows = "tests.toy_module.bookmarks.models.expired_rows"
    account_access = "tests.toy_module.bookmarks.access.account_access"
    actions = {
        "bookmark.added": Action("A bookmark was added.", when="A user adds a bookmark."),
    }

    def ready(self):
        from tests.toy_module.bookmarks import checks

        checks.connect()
