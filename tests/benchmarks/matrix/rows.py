"""The rows of the comparison: which project each one starts, and what that package leaves out."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from tests.benchmarks import environment, sides, terms, wires
from tests.benchmarks.matrix import peer_wires

SIX_MODULES = "notification,admin,audit,twofactor,magiclink"  # and session
ALL_MODULES = f"{SIX_MODULES},oauth,invitation,organization,pages"
BASELINE = "dj-rest-auth"
REFERENCE = "core"  # ratios of rows with Django's default database options are to this row
PREPARED_REFERENCE = "core-prepared"


@dataclass(frozen=True, kw_only=True)
class Row:
    """*make* returns a side with a migrated and seeded database, *reference* is another row."""

    name: str
    title: str
    leaves_out: str
    make: Callable[[str, Path], sides.Side]
    reference: str = REFERENCE

    @property
    def baseline(self) -> str:
        """The row of dj-rest-auth with the same database options."""
        return BASELINE if self.reference == REFERENCE else f"{BASELINE}-prepared"


def ours(modules: str, *, login: str, options: str) -> Callable[[str, Path], sides.Side]:
    def make(url: str, work_dir: Path) -> sides.Side:
        python = environment.ours(work_dir, modules=modules)
        chosen = Namespace(login=login, modules=modules, redis_url="")
        return seeded(with_options(sides.ours(url, python=python, options=chosen), options))

    return make


def dj_rest_auth(options: str) -> Callable[[str, Path], sides.Side]:
    def make(url: str, work_dir: Path) -> sides.Side:
        python = environment.baseline(work_dir)
        side = sides.baseline(url, python=python, sessions=True)
        return seeded(with_options(side, options))

    return make


def django_peer(name: str, wire: wires.Wire, **extra: str) -> Callable[[str, Path], sides.Side]:
    def make(url: str, work_dir: Path) -> sides.Side:
        side = sides.Side(
            name=name,
            python=environment.peer(work_dir, name, django=True),
            settings=f"tests.benchmarks.peers.{name}.settings",
            wsgi="tests.benchmarks.peers.wsgi:application",
            database_url=url,
            wire=wire,
            extra=extra,
        )
        return seeded(with_options(side, "default"))

    return make


def fastapi_users(url: str, work_dir: Path) -> sides.Side:
    python = environment.peer(work_dir, "fastapi_users", django=False)
    application = "tests.benchmarks.peers.fastapi_users.app:app"
    side = sides.Side(
        name="fastapi_users",
        python=python,
        settings="",
        wsgi=application,
        database_url=url,
        wire=peer_wires.FASTAPI_USERS,
        server=uvicorn(python, application),
    )
    side.run("tests.benchmarks.peers.fastapi_users.seed")
    return side


def better_auth(url: str, work_dir: Path) -> sides.Side:
    home = environment.node(work_dir, "better_auth")
    side = sides.Side(
        name="better_auth",
        python=Path("node"),
        settings="",
        wsgi="",
        database_url=url,
        wire=peer_wires.BETTER_AUTH,
        extra={"NODE_ENV": "production", "BETTER_AUTH_TELEMETRY": "0"},
        server=("node", str(home / "server.mjs"), "{port}"),
    )
    side.execute(["node", str(home / "seed.mjs"), str(terms.USERS), terms.PASSWORD])
    return side


def uvicorn(python: Path, application: str) -> tuple[str, ...]:
    options = ("--workers", "2", "--port", "{port}", "--no-access-log", "--log-level", "warning")
    return (str(python), "-m", "uvicorn", application, *options)


def with_options(side: sides.Side, options: str) -> sides.Side:
    return replace(side, extra={**side.extra, "BENCHMARK_DATABASE_OPTIONS": options})


def seeded(side: sides.Side) -> sides.Side:
    side.run("tests.benchmarks.seed")
    return side


NOTHING = "nothing: the row of the session, counted attempts, rotation with one winner"
DJ_REST_AUTH = "no count of wrong passwords; two parallel refreshes can both succeed"
ROWS = (
    Row(
        name="core",
        title="core and stateless",
        leaves_out=NOTHING,
        make=ours("", login="stateless", options="default"),
    ),
    Row(
        name="core-prepared",
        title="core and stateless, prepared",
        leaves_out=NOTHING,
        make=ours("", login="stateless", options="prepared"),
        reference=PREPARED_REFERENCE,
    ),
    Row(
        name="six",
        title="six modules, sessions",
        leaves_out="nothing; also audit entries, known devices, second factors",
        make=ours(SIX_MODULES, login="session", options="default"),
    ),
    Row(
        name="all",
        title="all modules, sessions",
        leaves_out="nothing; also the same, and organizations",
        make=ours(ALL_MODULES, login="session", options="default"),
    ),
    Row(
        name="all-prepared",
        title="all modules, sessions, prepared",
        leaves_out="nothing, as the row before",
        make=ours(ALL_MODULES, login="session", options="prepared"),
        reference=PREPARED_REFERENCE,
    ),
    Row(
        name="dj-rest-auth",
        title="dj-rest-auth, simplejwt",
        leaves_out=DJ_REST_AUTH,
        make=dj_rest_auth("default"),
    ),
    Row(
        name="dj-rest-auth-prepared",
        title="dj-rest-auth, simplejwt, prepared",
        leaves_out=DJ_REST_AUTH,
        make=dj_rest_auth("prepared"),
        reference=PREPARED_REFERENCE,
    ),
    Row(
        name="djoser",
        title="djoser, simplejwt",
        leaves_out=(
            "no count of wrong passwords, no session, and an access token is valid until it "
            "expires; two parallel refreshes can both succeed; a sign-up returns no tokens"
        ),
        make=django_peer("djoser", peer_wires.DJOSER),
    ),
    Row(
        name="knox",
        title="django-rest-knox",
        leaves_out=(
            "no count of wrong passwords, no refresh and no sign-up; the view of the user is "
            "the benchmark's own, and the login is that of its documentation, which also opens "
            "a Django session"
        ),
        make=django_peer("knox", peer_wires.KNOX),
    ),
    Row(
        name="allauth-session",
        title="django-allauth headless, session tokens",
        leaves_out="no refresh; its rate limits, which count wrong passwords in the cache, are off",
        make=django_peer("allauth", peer_wires.ALLAUTH_SESSION),
    ),
    Row(
        name="allauth-jwt",
        title="django-allauth headless, JWT",
        leaves_out="its rate limits, which count wrong passwords in the cache, are off",
        make=django_peer("allauth", peer_wires.ALLAUTH_JWT, BENCHMARK_ALLAUTH_TOKENS="jwt"),
    ),
    Row(
        name="fastapi-users",
        title="fastapi-users, asyncpg, uvicorn",
        leaves_out=(
            "no count of wrong passwords, no session, no refresh, and an access token is valid "
            "until it expires; a sign-up returns no token, and passwords are not checked for "
            "strength; asyncpg prepares each statement"
        ),
        make=fastapi_users,
    ),
    Row(
        name="better-auth",
        title="better-auth, Node",
        leaves_out=(
            "no refresh: a session token stays the same; its rate limit is off, and it counts no "
            "wrong passwords; passwords are checked for their length only"
        ),
        make=better_auth,
    ),
)
NAMES = tuple(row.name for row in ROWS)
