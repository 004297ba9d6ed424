"""Functions of a project for `authservice_sync_accounts --verified`."""

NOT_A_FUNCTION = "all"


def answer(users):
    return []


def named(users):
    """What a test has set."""
    return answer(users)


async def asynchronous(users):
    return []
