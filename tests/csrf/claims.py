"""What a host's hook may add to access tokens."""


def long(user):
    return {"rights": "x" * 4000}
