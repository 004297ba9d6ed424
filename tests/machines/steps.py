"""What is done to the site, and what must hold. Each step returns what was seen."""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from threading import Barrier

import pyotp

from tests.faults import traffic
from tests.faults.checker import contradictions
from tests.faults.service import Line, Reply
from tests.machines.programs import wait_until
from tests.machines.site import Site

PASSWORD = "plum tart 42 windows"
CROWD = 8
ROUNDS = int(os.environ.get("RACE_ROUNDS", "20"))
_MAILED = 60  # seconds until every mail was received


def visits(site: Site) -> str:
    """Log in on one machine, refresh on the other; a logout there ends the session here."""
    one, two = site.servers
    for number, (here, there) in enumerate([(one, two), (two, one)] * 5):
        email = f"visitor-{number}@example.com"
        began = here.call("POST", "signup", email=email, password=PASSWORD)
        assert began.status == 201, began
        new = there.call("POST", "refresh", refresh_token=began.data["refresh_token"])
        assert new.status == 200, new
        access = new.data["access_token"]
        assert here.call("GET", "me", access).status == 200
        assert there.call("POST", "logout", access).status == 200
        refused = [here.call("GET", "me", access).status, there.call("GET", "me", access).status]
        assert refused == [401, 401]
    return "10 logouts, each effective on the other machine with the next request"


def races(site: Site) -> str:
    """Eight parallel requests, spread over both machines, of which one may succeed."""
    won = Counter[str]()
    for number in range(ROUNDS):
        for name, prepare in RACES.items():
            request, status = prepare(site, f"{name.replace(' ', '-')}-{number}@example.com")
            winners = _race(site, request).count(status)
            assert winners == 1, f"{name}: {winners} winners"
            won[name] += 1
    return f"one winner of {CROWD} in each of {ROUNDS} rounds: {', '.join(won)}"


Contender = Callable[[Line], Reply]


def _race(site: Site, request: Contender) -> list[int]:
    start = Barrier(CROWD)

    def contend(_: int) -> int:
        line = Line(site.haproxy.web)
        try:
            line.call("GET", "me")  # connects
            start.wait(30)
            return request(line).status
        finally:
            line.close()

    with ThreadPoolExecutor(CROWD) as threads:
        return list(threads.map(contend, range(CROWD)))


def _of_sign_ups(site: Site, email: str) -> tuple[Contender, int]:
    return lambda line: line.call("POST", "signup", email=email, password=PASSWORD), 201


def _of_refreshes(site: Site, email: str) -> tuple[Contender, int]:
    token = _signed_up(site, email)["refresh_token"]
    return lambda line: line.call("POST", "refresh", refresh_token=token), 200


def _of_resets(site: Site, email: str) -> tuple[Contender, int]:
    _signed_up(site, email)
    site.servers[0].call("POST", "forgot-password", email=email)
    given = {"email": email, "token": site.mailbox.reset_token(email)}
    new = "quince jelly 17 shutters"
    return lambda line: line.call("POST", "reset-password", **given, new_password=new), 200


def _of_changes(site: Site, email: str) -> tuple[Contender, int]:
    access = _signed_up(site, email)["access_token"]
    given = {"old_password": PASSWORD, "new_password": "quince jelly 17 shutters"}
    return lambda line: line.call("PUT", "change-password", access, **given), 200


def _of_backup_codes(site: Site, email: str) -> tuple[Contender, int]:
    """Each request has passed the first step, and all have the same code for the second one."""
    here = site.servers[0]
    access = _signed_up(site, email)["access_token"]
    made = here.call("POST", "2fa/setup", access).data
    code = pyotp.TOTP(made["secret"]).now()
    assert here.call("POST", "2fa/verify", access, code=code).status == 200
    logins = [here.call("POST", "login", email=email, password=PASSWORD) for _ in range(CROWD)]
    tokens = [login.data["challenges"][0]["data"]["temp_token"] for login in logins]

    def second_step(line: Line) -> Reply:
        given = {"temp_token": tokens.pop(), "code": made["backup_codes"][0]}
        return line.call("POST", "2fa/verify-login", **given)

    return second_step, 200


RACES: dict[str, Callable[[Site, str], tuple[Contender, int]]] = {
    "sign-up": _of_sign_ups,
    "refresh": _of_refreshes,
    "reset": _of_resets,
    "change": _of_changes,
    "backup code": _of_backup_codes,
}


def _signed_up(site: Site, email: str) -> dict[str, str]:
    reply = site.servers[0].call("POST", "signup", email=email, password=PASSWORD)
    assert reply.status == 201, reply
    return reply.data


def restarted(site: Site) -> str:
    """New signing keys, and both web servers restarted one after the other, without a refusal."""
    with _traffic(site):
        for _ in range(2):
            site.manage("authservice_keys", "rotate", "--generate", "--force",
                        "--file", str(site.keys))  # fmt: skip
            for server in site.servers:
                site.haproxy.drain(server.name)
                server.stop()
                server.start()
                server.wait_for()  # HAProxy may not have noticed yet that it was away
                site.haproxy.use(server.name)
            time.sleep(1)
    _nothing_refused(site)
    return "4 restarts and 2 new keys, no request refused"


def _nothing_refused(site: Site) -> None:
    refused = site.ledger.refused(0) + site.ledger.refused(503)
    assert not refused, f"{refused} requests were lost: {site.ledger.summary()}"


def workers_killed(site: Site) -> str:
    """A worker of Celery dies, then the other one; no mail is lost."""
    with _traffic(site):
        for worker in site.workers:
            time.sleep(1)
            worker.kill()
            time.sleep(1)
            worker.start()
    _nothing_refused(site)
    new = {email for email, known in site.ledger.users.items() if known.sure["auth.signup"]}
    seconds = wait_until(
        lambda: not new - site.mailbox.addresses(), "every user receives a mail", _MAILED
    )
    return f"{len(new)} users, each received the mail; the last one {seconds:.0f} s later"


def master_killed(site: Site) -> str:
    """Sentinel makes the replica of Redis the master."""
    before = site.ledger.refused(503)
    with _traffic(site):
        site.caches.servers[0].kill()
        gone = wait_until(lambda: site.haproxy.is_up("redis", "two"), "a new master")
        recovered = site.recovered()
        time.sleep(2)
    refused = site.ledger.refused(503) - before
    return f"new master after {gone:.1f} s, {refused} refused, {recovered:.1f} s until recovery"


def promoted(site: Site) -> str:
    """The primary of PostgreSQL crashes, and its synchronous standby is promoted."""
    before = site.ledger.refused(503)
    with _traffic(site):
        began = time.monotonic()
        site.cluster.stop("immediate")
        site.standby.promote()
        site.cluster, site.standby = site.standby, site.cluster
        promoted = time.monotonic() - began
        site.haproxy.wait_for("postgresql", "two")
        site.recovered()
        seconds = time.monotonic() - began
        time.sleep(2)
    refused = site.ledger.refused(503) - before
    return f"promotion {promoted:.1f} s, {refused} refused, success after {seconds:.1f} s"


@contextmanager
def _traffic(site: Site) -> Iterator[None]:
    going = True
    threads = traffic.run(site.clients, lambda: going)
    try:
        yield
        time.sleep(1)
    finally:
        going = False
        for thread in threads:
            thread.join(60)


def conclude(site: Site) -> list[str]:
    """What breaks a promise: ended sessions that are valid, lost actions, secrets in logs."""
    for thread in traffic.settle(site.clients):
        thread.join()
    for client in site.clients:
        client.close()
    for secret in site.ledger.leaked(site.logs()):
        site.ledger.blame(f"a secret is in a log: {secret}")
    return [*site.ledger.broken, *contradictions(site.cluster, site.ledger)]


STEPS = (visits, races, restarted, workers_killed, master_killed, promoted)
