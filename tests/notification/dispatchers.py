"""Dispatchers and senders of host projects."""

kept = []


def keep(message):
    kept.append(message)


def discard(message):
    """Accepts the job and does not deliver it."""


def broken(message):
    raise ConnectionError("the broker is unavailable")


def broken_sender(to, body):
    raise ConnectionError(f"{to} is unavailable")
