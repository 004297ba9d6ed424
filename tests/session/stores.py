"""Stores as hosts write them."""

from authservice.session.stores import DatabaseStore


class Register:
    """A store from nothing, which notes what it is told."""

    told: list = []  # noqa: RUF012
    out: set = set()  # noqa: RUF012

    def __init__(self):
        self._rows = DatabaseStore()

    def begin(self, session):
        self.told.append(("begin", session.id))

    def alive(self, session):
        return session.id not in self.out

    def touch(self, session, *, now, until):
        self._rows.touch(session, now=now, until=until)
        self.told.append(("touch", session.id))

    def end(self, ids):
        self.told.extend(("end", pk) for pk in ids)

    def live_for(self, person):
        return [row for row in self._rows.live_for(person) if row.pk not in self.out]


class Broken(DatabaseStore):
    """One that is away, with an error that nobody has heard of."""

    def alive(self, session):
        raise ZeroDivisionError


class Listless(DatabaseStore):
    """One that goes away just when the list is asked for."""

    def live_for(self, person):
        raise ZeroDivisionError


class Deaf(DatabaseStore):
    """One that cannot be told of anything."""

    def touch(self, session, *, now, until):
        raise ZeroDivisionError

    def end(self, ids):
        raise ZeroDivisionError


class Unfinished:
    def alive(self, session):
        return True
