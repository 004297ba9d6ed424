"""`python -m tests.machines [--write]`: prints what was seen; 1 if a promise is broken.

Needs PostgreSQL, PgBouncer, HAProxy, Redis with Sentinel, and a RabbitMQ server.
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path

from tests.machines import steps
from tests.machines.programs import DEPLOYMENT
from tests.machines.site import running

LOGINS = {"stateless": "the stateless module", "session": "the session module with Redis"}
_HEAD = """.. list-table::
   :header-rows: 1
   :widths: 50 50

   * - Step
     - Seen
"""


def main() -> int:
    parser = ArgumentParser(prog="python -m tests.machines", description=__doc__)
    parser.add_argument("--login", choices=LOGINS, action="append", help="by default both")
    parser.add_argument("--logs", type=Path, help="a file for what all programs logged")
    parser.add_argument("--write", action="store_true", help="write the table of the docs")
    chosen = parser.parse_args()
    broken, text = False, ""
    for login in chosen.login or LOGINS:
        seen, wrong = _run(login, chosen)
        print(*wrong[:20], sep="\n", flush=True)
        broken, text = broken or bool(wrong), text + _table(login, seen)
    if chosen.write and not broken:
        (DEPLOYMENT / "seen.txt").write_text(text)
    return int(broken)


def _run(login: str, chosen: Namespace) -> tuple[dict[str, str], list[str]]:
    """What was seen in each step, and what broke a promise."""
    seen = {}
    with running(login) as site:
        try:
            for step in steps.STEPS:
                seen[str(step.__doc__).partition("\n")[0]] = step(site)
                print(f"{login}: {step.__name__}: {seen[list(seen)[-1]]}", flush=True)
            broken = steps.conclude(site)
        finally:
            if chosen.logs:
                chosen.logs.write_text(site.logs())
        seen["All requests"] = f"{len(site.ledger)}: {site.ledger.summary()}"
        print(f"{login}: {seen['All requests']}")
    return seen, broken


def _table(login: str, seen: dict[str, str]) -> str:
    rows = "".join(f"   * - {what}\n     - {text}\n" for what, text in seen.items())
    return f"With {LOGINS[login]}:\n\n{_HEAD}{rows}\n"


if __name__ == "__main__":
    sys.exit(main())
