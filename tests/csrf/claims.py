"""A `CLAIMS_HOOK` of a host that makes access tokens too long for a cookie."""


def long(user):
    return {"rights": "x" * 4000}
