"""Generate load with wrk: one endpoint of one server for some seconds."""

import os
import re
import shutil
import subprocess
import time
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


def requests_per_second(server: Server, endpoint: str, *, seconds: float, work_dir: Path) -> float:
    """The rate that *server* sustains on *endpoint*; any refused request raises an error."""
    tokens = work_dir / "tokens.txt"
    tokens.write_text("\n".join(fresh_tokens(server, endpoint)))
    command = ["wrk", "-t", str(CONNECTIONS), "-c", str(CONNECTIONS), "-d", f"{seconds:g}s"]
    script = ["-s", str(LUA / f"{endpoint}.lua")]
    ended = subprocess.run(
        [*command, *script, server.url + getattr(server.side.wire, endpoint)],
        env={**os.environ, **variables(server.side.wire, endpoint, tokens)},
        capture_output=True,
        text=True,
        check=False,
    )
    time.sleep(PAUSE)
    return rate(ended.stdout + ended.stderr, f"{server.side.name} {endpoint}")


def fresh_tokens(server: Server, endpoint: str) -> list[str]:
    """One token per connection, each from its own login, if the endpoint needs tokens."""
    names = {"me": server.side.wire.access_name, "refresh": server.side.wire.refresh_name}
    if endpoint not in names:
        return []
    return [wires.token_in(login(server, n), names[endpoint]) for n in range(CONNECTIONS)]


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
        "BENCHMARK_TOKENS": str(tokens),
        "BENCHMARK_BODY": getattr(wire, f"{endpoint}_body", ""),
        "BENCHMARK_PATTERN": f'"{wire.refresh_name}"%s*:%s*"([^"]+)"',
        "BENCHMARK_IDENTITY": wire.identity,
        "BENCHMARK_USERS": str(terms.USERS),
        "BENCHMARK_RUN": uuid4().hex[:12],
    }


def rate(output: str, label: str) -> float:
    line = re.search(r"BENCHMARK (\d+) (\d+) (\d+) (\d+)", output)
    if line is None:
        raise BenchmarkError(f"{label}: wrk gave no figures\n{output[-2000:]}")
    requests, microseconds, refused, broken = map(int, line.groups())
    if refused or broken or not requests:
        raise BenchmarkError(
            f"{label}: of {requests} requests {refused} were refused and {broken} broke off; "
            "the server's output is in the work directory"
        )
    return requests / microseconds * 1_000_000
