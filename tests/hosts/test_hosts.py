"""Runs the tests of authservice in every host project.

Each host runs the essentials and those parts of the suite that its settings could break.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from importlib.util import find_spec

import pytest

from tests.contract.test_ended_sessions import ROUTES as ROUTED
from tests.hosts.runs import SQLITE, holds
from tests.hosts.shipped import shipped

CONTRACT = "tests/contract"
CORE = (
    *(f"tests/core/{folder}" for folder in ("users", "credentials", "tokens", "sessions", "login")),
    "tests/core/test_regressions.py",
    "tests/kernel/test_throttling.py",
)
LOGIN = "tests/core/login"
RECOVERY = ("tests/core/messages", "tests/core/recovery", "tests/core/api")
ADMIN = "tests/admin_api"
TWO_FACTOR = "tests/twofactor"
ESSENTIALS = "tests/hosts/inside"
# Reverted and applied again, which takes as long as the other essentials together.
MIGRATIONS = f"{ESSENTIALS}/test_migrations.py"
MAGIC = (
    "tests/magiclink",
    # Browsers and other processes, which do not depend on the host.
    *(f"--deselect=tests/magiclink/test_{name}.py" for name in ("browser", "login_csrf", "absent")),
)
INVITATION = (
    "tests/invitation",
    # Other processes, and a crowd that opens its own connections.
    "--deselect=tests/invitation/test_absent.py",
    "--deselect=tests/invitation/races",
)
SOCIAL = (
    "tests/oauth/flow",
    # A browser, other processes and sixty addresses, which do not depend on the host.
    *(
        f"--deselect=tests/oauth/flow/test_{name}.py"
        for name in ("browser", "absent", "redirect_targets")
    ),
)
ROUTES = tuple(
    f"tests/contract/test_{name}.py"
    for name in ("signup", "login", "me", "refresh", "logout", "crashes")
)
# The default settings lack these modules, so their routes are tested against the contract here.
MORE = {
    "magiclink": (CONTRACT,),
    "organization": (
        CONTRACT,
        # Responses to logins have the organizations of the user, read by one statement more.
        *(f"--deselect=tests/contract/test_{name}.py" for name in ("queries", "login", "signup")),
    ),
}
# What is refused before anything is read that a host could change.
FORMS = tuple(
    f"--deselect=tests/contract/test_{name}.py" for name in ("bodies", "methods", "text_bounds")
)
# Modules with tables that the default settings have.
DEFAULT = ("invitation", "oauth", "passkeys", "twofactor")
ENDED = "tests/contract/test_ended_sessions.py"
# Its tests that have a case for each route.
OF_ROUTES = (
    "test_request_in_a_valid_session_succeeds",
    "test_request_whose_session_ends_once_it_is_identified_changes_nothing",
)
# These tests install the module themselves.
SESSIONS = tuple(
    f"tests/session/test_{name}.py"
    for name in ("sessions", "lifetimes", "limit", "stores", "unavailable_store", "own_store")
)
SEVERAL = ("-p", "tests.hosts.databases.plugin")


@dataclass(frozen=True)
class Host:
    """A host; `first` are the tests that it runs in any case, `more` those that it runs after
    them, `needs` its packages."""

    name: str
    more: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    variables: dict[str, str] = field(default_factory=dict)
    needs: tuple[str, ...] = ()
    first: tuple[str, ...] = (ESSENTIALS,)

    def __str__(self) -> str:
        return "-".join([self.name, *self.variables.values()])


def without(test: str) -> str:
    return f"--deselect={test}"


# Slow tests that do not depend on the host.
LONG = (
    without("tests/core/sessions/test_rotation_property.py"),
    without(
        "tests/kernel/test_throttling.py::test_other_routes_are_limited_to_six_hundred_requests_a_minute"
    ),
    without("tests/core/recovery/test_secrecy.py"),
    without("tests/core/recovery/test_verify_browser.py"),
    # It starts its own hosts, independent of this one.
    without("tests/twofactor/test_absent.py"),
)

OWN_ACCOUNT = (
    "tests/core/own_account",
    # A crowd that opens its own connections.
    without("tests/core/own_account/races"),
)

# Every module whose rows belong to users.
USERS = (
    *(*ROUTES, *CORE, *RECOVERY, *OWN_ACCOUNT, TWO_FACTOR, *SESSIONS, ADMIN),
    *(*MAGIC, *SOCIAL, *INVITATION),
)

HOSTS = [
    Host("uuid_user", ROUTES),
    # UUID keys too.
    Host(
        "email_user",
        (
            *USERS,
            *FORMS,
            # Every user has an address here.
            without(
                "tests/core/own_account/test_confirm_email.py::"
                "test_rows_without_an_address_stay_if_there_was_no_former_address"
            ),
        ),
    ),
    # The other tests create users with an address and an active flag.
    Host("bare_user"),
    Host("hidden_inactive", (*ROUTES, "tests/core/users/test_existing_users.py")),
    # Its settings reach views, so routes are tested, and not what is below them.
    Host(
        "hostile",
        (CONTRACT, *FORMS, LOGIN, TWO_FACTOR, *SESSIONS, MIGRATIONS),
        first=(ESSENTIALS, without(MIGRATIONS)),
    ),
    Host("no_login_module", ROUTES),
    Host(
        "naive_time",
        (
            *ROUTES,
            *SESSIONS,
            *CORE,
            # The frozen clock sets the process to UTC, which changes naive times.
            without("tests/contract/test_login.py::test_login_sets_last_login_at"),
        ),
    ),
    Host("simplejwt", (*ROUTES, "tests/core/tokens/test_foreign_tokens.py")),
    Host(
        "axes",
        (
            # It counts failed logins.
            *(*ROUTES, LOGIN, "tests/core/credentials", "tests/kernel/test_throttling.py"),
            # django-axes writes REMOTE_ADDR into a column that accepts IP addresses only.
            without(
                "tests/kernel/test_throttling.py::test_rate_limit_accepts_an_invalid_client_address"
            ),
        ),
        needs=("axes",),
    ),
    Host(
        "cookies",
        (
            # What reads or returns tokens.
            *(CONTRACT, *FORMS, LOGIN, "tests/core/credentials", "tests/core/sessions"),
            # The CSRF token differs in each response.
            without(
                "tests/contract/test_authorization.py::"
                "test_public_route_ignores_authorization_header[GET csrf-token"
            ),
            without(
                "tests/core/credentials/test_device_cookie.py::test_login_sets_only_the_device_cookie"
            ),
            # The CSRF middleware refuses these first.
            without("tests/contract/test_health.py::test_check_refuses_other_methods"),
        ),
    ),
    *(
        Host(
            "session",
            (
                *parts,
                # The failing cache also stores the sessions, so requests are refused.
                without(
                    "tests/kernel/test_throttling.py::test_requests_are_accepted_while_the_cache_is_unavailable"
                ),
                # Revoked sessions are read first to notify the store, which costs a statement.
                without("tests/core/recovery/test_statement_counts.py"),
            ),
            variables={"SESSION_STORE": store},
        )
        for store, parts in {
            "database": (CONTRACT, *FORMS, *CORE, *RECOVERY),
            "cache": (*ROUTES, "tests/core/sessions", "tests/kernel/test_throttling.py"),
        }.items()
    ),
    Host("neighbours", ROUTES, needs=("allauth", "organizations")),
    Host(
        "two_databases",
        (
            *(*CORE, *RECOVERY, TWO_FACTOR, *SESSIONS, *MAGIC, *INVITATION),
            # Forms and mails, which read no other tables than the rest.
            *(without(f"tests/core/{folder}") for folder in ("login", "messages")),
            # These tests inspect one database only.
            without("tests/core/recovery/test_statement_counts.py"),
            without("tests/core/recovery/test_secrecy.py"),
            *(without(f"tests/magiclink/{name}.py") for name in ("test_costs", "test_checks")),
            without("tests/twofactor/test_costs.py"),
        ),
        SEVERAL,
    ),
    Host(
        "replica",
        (
            *(*CORE, *RECOVERY, *SESSIONS),
            # These tests themselves read during a request.
            without("tests/core/sessions/test_interrupted_requests.py"),
            without(
                "tests/core/sessions/test_rotation_interleaved.py::test_refresh_is_refused_after_an_expiry_meanwhile"
            ),
            without(
                "tests/core/test_regressions.py"
                "::test_login_with_a_name_that_only_a_backend_matches_is_refused"
            ),
        ),
        # A backend of the host reads from the replica, which is empty here.
        (
            *SEVERAL,
            without(f"{ESSENTIALS}/test_backends.py"),
            without("tests/core/credentials/test_authentication_backends.py"),
        ),
    ),
    *(Host("spectacular", variables={"OAS_VERSION": version}) for version in ("3.0.3", "3.1.1")),
    # The signal for error trackers correctly contains the path with its prefix.
    Host(
        "subpath",
        (
            *ROUTES,
            without(
                "tests/contract/test_crashes.py::test_unexpected_exception_sends_got_request_exception"
            ),
        ),
    ),
    Host("readers", ("tests/contract/test_bodies.py",), variables={"READS": "body"}),
    Host("readers", ("tests/contract/test_bodies.py",), variables={"READS": "POST"}),
    Host(
        "everything",
        ("tests/contract/test_text_bounds.py", MIGRATIONS, ENDED),
        first=(
            ESSENTIALS,
            # The migrations of these modules are reverted in another host that runs always.
            *("-k", " and ".join(f"not authservice_{module}" for module in DEFAULT)),
            # Sessions end on the routes that the default settings lack, and refresh tokens are
            # withheld on all.
            *(ENDED, *(without(f"{ENDED}::{test}[{one}]") for test in OF_ROUTES for one in ROUTED)),
            "tests/contract/test_bearer_alone.py",
        ),
    ),
    *(Host("alone", MORE.get(module, ()), variables={"MODULE": module}) for module in shipped()),
]

# The hosts that differ most, on each database: another user model, and settings that reach views.
EVERYWHERE = ("uuid_user", "hostile")
# Run with the quick suite. The other hosts are slow, since each is a start of Django and a database
# of its own, and differs from these in less.
ALWAYS = (*EVERYWHERE, "everything")


def each(hosts: list[Host]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("host", [_marked(host) for host in hosts])


def _marked(host: Host) -> object:
    absent = [name for name in host.needs if find_spec(name) is None]
    marks = [pytest.mark.skipif(bool(absent), reason=f"not installed: {', '.join(absent)}")]
    if host.name not in EVERYWHERE:
        marks.append(pytest.mark.once)
    return pytest.param(host, marks=marks, id=str(host))


def suite(host: Host, *paths: str, **variables: str) -> None:
    arguments = (*paths, *LONG, *host.options)
    holds(*arguments, host=host.name, sample=True, **host.variables, **variables)


@each([host for host in HOSTS if host.name in ALWAYS])
def test_essentials_in_host(host):
    suite(host, *host.first)


# Slow, since it stores a thousand rows for each list; those of the plain host are tried always.
@pytest.mark.slow
def test_arrays_are_bounded_with_every_module():
    holds("tests/contract/test_array_bounds.py", host="everything")


@pytest.mark.slow
@each([host for host in HOSTS if host.more and host.name in ALWAYS])
def test_suite_in_host(host):
    suite(host, *host.more, **SQLITE)


@pytest.mark.slow
@each([host for host in HOSTS if host.name not in ALWAYS])
def test_essentials_and_suite_in_slow_host(host):
    suite(host, *host.first, *host.more, **SQLITE)
