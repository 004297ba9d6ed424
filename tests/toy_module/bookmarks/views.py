"""The route of bookmarks: its path, its methods, and what it does."""

from typing import TypedDict

from rest_framework import serializers

from authservice.core.api.endpoint import Endpoint
from authservice.core.sessions import sessions
from authservice.kernel import clock, events
from authservice.kernel.errors import InvalidToken
from authservice.kernel.http.envelope import answer
from authservice.kernel.http.operations import operation
from tests.toy_module.bookmarks.conf import conf
from tests.toy_module.bookmarks.errors import TooManyBookmarks
from tests.toy_module.bookmarks.models import Bookmark


class BookmarkIn(serializers.Serializer):
    address = serializers.URLField(max_length=200)


class BookmarkList(TypedDict):
    """The addresses, the oldest first."""

    addresses: list[str]


def addresses(person) -> BookmarkList:
    rows = Bookmark.objects.filter(user=person.user.pk).order_by("pk")
    return {"addresses": list(rows.values_list("address", flat=True))}


class Bookmarks(Endpoint):
    path = "bookmarks"
    route = "bookmarks"

    @operation("GET", answer=BookmarkList)
    def show(self):
        """Show your bookmarks

        The addresses that you have added.
        """
        return answer(addresses(self.identity.person))

    @operation(
        "POST",
        body=BookmarkIn,
        answer=BookmarkList,
        status=201,
        faults=(TooManyBookmarks, InvalidToken),
    )
    def add(self):
        """Add a bookmark

        Keeps an address until it expires.
        """
        address = self.read(BookmarkIn)["address"]
        with sessions.changing(self.identity.person, self.identity.session) as person:
            if Bookmark.objects.filter(user=person.user.pk).count() >= conf.most:
                raise TooManyBookmarks
            Bookmark.objects.create(user=person.user, address=address, added_at=clock.now())
            events.record("bookmark.added", person, self.client)
        return answer(addresses(person), status=201)
