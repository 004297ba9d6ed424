"""What the first proof of an address removes."""

from authservice.kernel.interfaces import AccountAccess
from tests.toy_module.bookmarks.models import Bookmark


class BookmarkAccess(AccountAccess):
    def first_proof(self, person):
        deleted, _ = Bookmark.objects.filter(user=person.user.pk).delete()
        return bool(deleted)


account_access = BookmarkAccess()
