"""Generate load with wrk: one endpoint of one server for some seconds."""

import os
import re
import shutil
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

from tests.benchmarks import terms, wires
from tests.benchmarks.errors import BenchmarkError
from tests.benchmarks.servers import Server

CONNECTIONS = 8
LUA = Path(__file__).parent / "lua"

# Requests that are cut off when wrk stops must not slow down the next run.
PAUSE = 0.3


def require_wrk() -> None:
    if shutil.which("wrk") is None:
        raise BenchmarkError("wrk is missing; on Debian: apt-get install wrk")


@dataclass(frozen=True)
class Load:
    """Figures of one run: the rate, and percentiles of the response times in milliseconds."""

    requests: int
    per_second: float
    p50: float
    p99: float


def requests_per_second(server: Server, endpoint: str, *, seconds: float, work_dir: Path) -> float:
    """The rate that *server* sustains on *endpoint*; any refused request raises an error."""
    return put(server, endpoint, seconds=seconds, work_dir=work_dir).per_second


def put(
    server: Server,
    endpoint: str,
    *,
    seconds: float,
    work_dir: Path,
    connections: int = CONNECTIONS,
) -> Load:
    """Keep *connections* busy with requests; any refused request raises an error."""
    tokens = fresh_tokens(server, endpoint, connections)
    return send(server, endpoint, tokens, seconds=seconds, work_dir=work_dir, count=connections)


def send(
    server: Server,
    endpoint: str,
    tokens: list[str],
    *,
    seconds: float,
    work_dir: Path,
    count: int = CONNECTIONS,
) -> Load:
    """As `put`, with the tokens of an earlier call, one per connection."""
    listed = work_dir / "tokens.txt"
    listed.write_text("\n".join(tokens))
    ended = subprocess.run(
        wrk(server, endpoint, seconds, count),
        env={**os.environ, **variables(server.side.wire, endpoint, listed)},
        capture_output=True,
        text=True,
        check=False,
    )
    time.sleep(PAUSE)
    return figures(ended.stdout + ended.stderr, f"{server.side.name} {endpoint}")


def wrk(server: Server, endpoint: str, seconds: float, connections: int) -> list[str]:
    command = ["wrk", "-t", str(connections), "-c", str(connections), "-d", f"{seconds:g}s"]
    script = ["-s", str(LUA / f"{endpoint}.lua"), "--timeout", "30s"]
    return [*command, *script, server.url + getattr(server.side.wire, endpoint)]


def fresh_tokens(server: Server, endpoint: str, connections: int = CONNECTIONS) -> list[str]:
    """One token per connection, each from its own login, if the endpoint needs tokens."""
    names = {"me": server.side.wire.access_name, "refresh": server.side.wire.refresh_name}
    if endpoint not in names:
        return []
    return [wires.token_in(login(server, n), names[endpoint]) for n in range(connections)]


def login(server: Server, number: int) -> str:
    """The response to the login of a seeded user."""
    wire = server.side.wire
    status, text = server.post(wire.login, wire.login_as(number))
    if status != 200:
        raise BenchmarkError(f"{server.side.name}: login answered {status}: {text[:300]}")
    return text


def variables(wire: wires.Wire, endpoint: str, tokens: Path) -> dict[str, str]:
    return {
        "BENCHMARK_LUA": str(LUA),
        "BENCHMARK_CONTENT_TYPE": wire.content_type(getattr(wire, endpoint)),
        "BENCHMARK_TOKEN_HEADER": wire.token_header.partition(": ")[0],
        "BENCHMARK_TOKEN_VALUE": wire.token_header.partition(": ")[2],
        "BENCHMARK_TOKENS": str(tokens),
        "BENCHMARK_BODY": getattr(wire, f"{endpoint}_body", ""),
        "BENCHMARK_PATTERN": f'"{wire.refresh_name}"%s*:%s*"([^"]+)"',
        "BENCHMARK_IDENTITY": wire.identity,
        "BENCHMARK_USERS": str(terms.USERS),
        "BENCHMARK_RUN": uuid4().hex[:12],
    }


def figures(output: str, label: str) -> Load:
    """The figures of a run in which every request was answered with success."""
    requests, microseconds, refused, broken, p50, p99 = printed(output, label)
    if refused or broken or not requests:
        raise BenchmarkError(
            f"{label}: of {requests} requests {refused} were refused and {broken} broke off; "
            "the server's output is in the work directory"
        )
    return Load(requests, requests / microseconds * 1_000_000, p50 / 1000, p99 / 1000)


def printed(output: str, label: str) -> tuple[int, ...]:
    """The numbers of the line that `lua/report.lua` prints."""
    line = re.search(r"BENCHMARK" + r" (\d+)" * 6, output)
    if line is None:
        raise BenchmarkError(f"{label}: wrk gave no figures\n{output[-2000:]}")
    return tuple(map(int, line.groups()))
