"""Dispatchers of hosts."""

taken = []


def keep(message):
    taken.append(message)


def nowhere(message):
    """Takes the job and forgets it."""


def broken(message):
    raise ConnectionError("the broker is away")


def broken_sender(to, body):
    raise ConnectionError(f"{to} is away")
