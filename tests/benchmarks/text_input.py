"""``python -m tests.benchmarks.text_input``: the ten most expensive texts that any route reads.

Sends one request for each text at each place, with every module installed, on SQLite in memory and
with a hasher that costs nothing, and measures the CPU time without the password hash.
"""

import os
import sys

import django
from django.conf import settings
from django.test.utils import setup_databases, setup_test_environment

ALLOWED = 0.050  # seconds
SHOWN = 10


def main() -> int:
    os.environ.setdefault("TEST_HOST", "everything")
    os.environ["DATABASE_URL"] = "sqlite://:memory:"
    os.environ["DJANGO_SETTINGS_MODULE"] = "tests.settings"
    django.setup()
    setup_test_environment()
    setup_databases(verbosity=0, interactive=False)
    costs = sorted(measured(), reverse=True)
    for seconds, place, name in costs[:SHOWN]:
        print(f"{seconds * 1000:7.1f} ms  {place}: {name}")
    print(f"{len(costs)} requests, of which each may take {ALLOWED * 1000:.0f} ms of CPU")
    return int(costs[0][0] > ALLOWED)


def measured():
    from authservice.kernel.modules import plugged
    from tests.support.long_texts import BODIES, Service, places
    from tests.support.modules import fillers

    settings.AUTHSERVICE = {**settings.AUTHSERVICE, "THROTTLE": {"ENABLED": False}}
    service = Service()
    with plugged("messenger", fillers.messenger):
        for place in places():
            token = "" if place.route.public else caller()
            for name, text in place.texts():
                yield least(service, place.request, text, token), str(place), name
            for name, body in BODIES.items() if place.where == "body" else ():
                raw = body % place.name.encode()
                yield least(service, place.request_of, raw, token), str(place), name


def least(service, build, sent, token):
    """The minimum of three requests, since the first one also compiles code and fills caches."""
    return min(service.answer(build(sent, token=token))[0] for _ in range(3))


def caller():
    """The token of a new super admin."""
    from authservice.core.models import Account
    from tests.support.client import Api

    caller.count += 1
    token = Api().sign_up(f"user{caller.count}@example.com")["access_token"]
    Account.objects.update(is_super_admin=True)
    return token


caller.count = 0

if __name__ == "__main__":
    sys.exit(main())
