"""How many of eight parallel requests with the same refresh token succeed."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

from tests.benchmarks import load, wires
from tests.benchmarks.servers import Server

TRIES = 8
ROUNDS = 10


def winners(server: Server) -> list[int]:
    """The number of successes in each round; every round uses its own token."""
    return [race(server, number) for number in range(ROUNDS)]


def race(server: Server, number: int) -> int:
    wire = server.side.wire
    token = wires.token_in(load.login(server, number), wire.refresh_name)
    together = Barrier(TRIES)

    def attempt(_: int) -> int:
        together.wait()
        return server.post(wire.refresh, wire.refresh_body % token)[0]

    with ThreadPoolExecutor(TRIES) as pool:
        return list(pool.map(attempt, range(TRIES))).count(200)
