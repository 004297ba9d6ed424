"""The service is at home in every host.

The essentials are tried in each; of the suite at large each host runs what it could spoil.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from importlib.util import find_spec

import pytest

from tests.hosts.runs import holds
from tests.hosts.shipped import shipped

CONTRACT, CORE, RECOVERY = "tests/contract", "tests/core", "tests/recovery"
ADMIN = "tests/admin_api"
TWO_FACTOR = "tests/twofactor"
ESSENTIALS = "tests/hosts/inside"
MAGIC = (
    "tests/magiclink",
    # A browser and other processes, to which no host makes a difference.
    *(f"--deselect=tests/magiclink/test_{name}.py" for name in ("browser", "absent")),
)
ROUTES = tuple(
    f"tests/contract/test_{name}.py"
    for name in ("signup", "login", "me", "refresh", "logout", "methods", "crashes")
)
# The suite at large does without these, so their routes are held to the contract here.
MORE = {"magiclink": (CONTRACT,)}
# They install the module by themselves.
SESSIONS = tuple(
    f"tests/session/test_{name}.py"
    for name in ("sessions", "lifetimes", "limit", "stores", "store_away", "own_store")
)
SEVERAL = ("-p", "tests.hosts.databases.plugin")


@dataclass(frozen=True)
class Host:
    """`more` is what it runs beyond the essentials, `needs` the packages it is made of."""

    name: str
    more: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    variables: dict[str, str] = field(default_factory=dict)
    needs: tuple[str, ...] = ()

    def __str__(self) -> str:
        return "-".join([self.name, *self.variables.values()])


def without(test: str) -> str:
    return f"--deselect={test}"


# They take their time over what no host could change.
LONG = (
    without("tests/core/test_refresh_property.py"),
    without(
        "tests/core/test_flood_limits.py::test_anything_else_is_limited_to_six_hundred_a_minute"
    ),
    without("tests/recovery/test_secrecy.py"),
    # They start hosts of their own, the same whatever this one is.
    *(without(f"tests/twofactor/test_{name}.py") for name in ("staff", "absent")),
)

HOSTS = [
    Host("uuid_user", (*ROUTES, CORE, RECOVERY, TWO_FACTOR, *SESSIONS, ADMIN, *MAGIC)),
    Host("email_user", (*ROUTES, CORE, RECOVERY, TWO_FACTOR, *SESSIONS, ADMIN, *MAGIC)),
    # The suite at large makes users who have an address and a flag of their own.
    Host("bare_user"),
    Host("hidden_inactive", (*ROUTES, "tests/core/test_existing_users.py")),
    Host("hostile", (CONTRACT, CORE, TWO_FACTOR, *SESSIONS)),
    Host("no_login_module", ROUTES),
    Host(
        "naive_time",
        (
            *ROUTES,
            *SESSIONS,
            CORE,
            # The clock that stands still takes the process to UTC: naive times do not survive it.
            without("tests/contract/test_login.py::test_last_login_at_is_this_login"),
        ),
    ),
    Host("simplejwt", (*ROUTES, "tests/core/test_foreign_tokens.py")),
    Host(
        "axes",
        (
            *ROUTES,
            CORE,
            # It writes whatever REMOTE_ADDR says into a column that takes addresses alone.
            without(
                "tests/core/test_flood_limits.py::test_an_address_that_is_none_crashes_nothing"
            ),
        ),
        needs=("axes",),
    ),
    Host(
        "cookies",
        (
            CONTRACT,
            CORE,
            # A token of its own for each request.
            without(
                "tests/contract/test_authorization.py::"
                "test_a_public_route_ignores_the_header[GET csrf-token"
            ),
            without("tests/core/test_cookies.py::test_a_login_sets_no_other_cookie"),
        ),
    ),
    *(
        Host(
            "session",
            (
                *(CONTRACT, CORE, RECOVERY),
                # Sessions are looked at for each request, whatever that setting says.
                without(
                    "tests/core/test_standing.py::"
                    "test_where_the_signature_is_trusted_a_token_lives_until_it_expires"
                ),
                # The cache that is away there takes that of the sessions along, which closes doors.
                without(
                    "tests/core/test_flood_limits.py::test_a_cache_that_is_away_closes_no_door"
                ),
                # A store is told of each session that ends, so these are read first.
                without("tests/recovery/test_costs.py"),
            ),
            variables={"SESSION_STORE": store},
        )
        for store in ("database", "cache")
    ),
    Host("neighbours", ROUTES, needs=("allauth", "organizations")),
    Host(
        "two_databases",
        (
            *(CORE, RECOVERY, TWO_FACTOR, *SESSIONS, *MAGIC),
            # They look at one database only.
            *(without(f"tests/recovery/{name}.py") for name in ("test_costs", "test_secrecy")),
            *(without(f"tests/magiclink/{name}.py") for name in ("test_costs", "test_checks")),
            without("tests/twofactor/test_costs.py"),
        ),
        SEVERAL,
    ),
    Host(
        "replica",
        (
            *(CORE, RECOVERY, *SESSIONS),
            # Here the test itself reads during a request.
            without("tests/core/test_interrupted_requests.py"),
            without("tests/core/test_refresh_interleaved.py::test_an_expiry_meanwhile_wins"),
            without(
                "tests/core/test_reviewed.py"
                "::test_a_spelling_that_only_a_backend_takes_for_the_name_opens_nothing"
            ),
        ),
        # A host's own backend reads where its router says: one of this kind must let it wait.
        (
            *SEVERAL,
            without(f"{ESSENTIALS}/test_backends.py"),
            without("tests/core/test_backends.py"),
        ),
    ),
    *(Host("spectacular", variables={"OAS_VERSION": version}) for version in ("3.0.3", "3.1.1")),
    # What error trackers are told of is rightly the path with its prefix.
    Host(
        "subpath",
        (*ROUTES, without("tests/contract/test_crashes.py::test_error_trackers_hear_of_it")),
    ),
    Host("readers", ("tests/contract/test_bodies.py",), variables={"READS": "body"}),
    Host("readers", ("tests/contract/test_bodies.py",), variables={"READS": "POST"}),
    Host("everything", ("tests/contract/test_text_bounds.py",)),
    *(Host("alone", MORE.get(module, ()), variables={"MODULE": module}) for module in shipped()),
]

# Tried on each run of the suite; the others are slow.
ALWAYS = ("uuid_user", "email_user", "bare_user", "hostile", "naive_time", "axes", "everything")


def each(hosts: list[Host]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("host", [_marked(host) for host in hosts])


def _marked(host: Host) -> object:
    absent = [name for name in host.needs if find_spec(name) is None]
    mark = pytest.mark.skipif(bool(absent), reason=f"not installed: {', '.join(absent)}")
    return pytest.param(host, marks=mark, id=str(host))


def suite(host: Host, *paths: str) -> None:
    holds(*paths, *LONG, *host.options, host=host.name, **host.variables)


@each([host for host in HOSTS if host.name in ALWAYS])
def test_the_essentials_hold(host):
    suite(host, ESSENTIALS)


def test_no_module_changes_anything_in_an_ended_session():
    holds("tests/contract/test_ended_sessions.py", host="everything")


@pytest.mark.slow
@each([host for host in HOSTS if host.more and host.name in ALWAYS])
def test_the_suite_holds(host):
    suite(host, *host.more)


@pytest.mark.slow
@each([host for host in HOSTS if host.name not in ALWAYS])
def test_the_essentials_and_what_it_could_spoil_hold(host):
    suite(host, ESSENTIALS, *host.more)
