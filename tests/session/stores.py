"""Session stores as host projects write them."""

from authservice.session.stores import DatabaseStore


class Register:
    """A store without a base class, which records its calls."""

    calls: list = []  # noqa: RUF012
    refused: set = set()  # noqa: RUF012

    def __init__(self):
        self._rows = DatabaseStore()

    def begin(self, session):
        self.calls.append(("begin", session.id))

    def alive(self, session):
        return session.id not in self.refused

    def touch(self, session, *, now, until):
        self._rows.touch(session, now=now, until=until)
        self.calls.append(("touch", session.id))

    def end(self, ids):
        self.calls.extend(("end", pk) for pk in ids)

    def live_for(self, person):
        return [row for row in self._rows.live_for(person) if row.pk not in self.refused]


class Broken(DatabaseStore):
    """A store that fails with an error that the service does not know."""

    def alive(self, session):
        raise ZeroDivisionError


class BrokenList(DatabaseStore):
    """A store that fails only for the list of sessions."""

    def live_for(self, person):
        raise ZeroDivisionError


class BrokenWrites(DatabaseStore):
    """A store that fails at every notification."""

    def touch(self, session, *, now, until):
        raise ZeroDivisionError

    def end(self, ids):
        raise ZeroDivisionError


class Unfinished:
    """A store without the other methods."""

    def alive(self, session):
        return True
