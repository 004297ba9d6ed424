"""A pytest plugin: `pytest PATH` runs tests in the host that they are about.

A host is what Django reads at its start, so a run has one. Without a path, or with one of a folder
above, the tests named here are left out; other tests start them, each host in its own process.
`--ds` and DJANGO_SETTINGS_MODULE come before this table.
"""

import os
import tempfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SETTINGS = "DJANGO_SETTINGS_MODULE"


def _users(model: str) -> dict[str, str]:
    return {SETTINGS: "tests.user_models.settings", "USER_MODEL": model}


# A file or folder below `tests`, and the environment of its host.
HOSTS = {
    "accessibility/inside": {SETTINGS: "tests.staff_support.settings"},
    "admin/inside": {SETTINGS: "tests.admin.settings"},
    "audit/inside": {SETTINGS: "tests.audit.settings"},
    "coming_from/inside": {SETTINGS: "tests.coming_from.settings"},
    "compat/inside": {SETTINGS: "tests.compat.settings"},
    "extending/inside": {SETTINGS: "tests.extending.settings"},
    "oauth/importing": {SETTINGS: "tests.oauth.importing.settings"},
    "oauth/inside": {SETTINGS: "tests.admin.settings"},
    "openapi/inside": {SETTINGS: "tests.audit.settings"},
    "organization/inside": {SETTINGS: "tests.organization.settings"},
    "pages/inside/test_sessions.py": {
        SETTINGS: "tests.pages.settings",
        "PAGES_LOGIN": "session",
    },
    "pages/inside": {SETTINGS: "tests.pages.settings"},
    "passkeys/inside": {SETTINGS: "tests.admin.settings"},
    "personal_data/inside": {SETTINGS: "tests.audit.settings"},
    "screenshots/inside": {SETTINGS: "tests.pages.settings"},
    "staff_support/inside": {SETTINGS: "tests.audit.settings"},
    # With DATABASE_URL, since tenants are schemas of PostgreSQL.
    "tenants/inside": {
        SETTINGS: "tests.tenants.settings",
        "DISPATCHER": "thread",
        "TEST_MAILS": f"{tempfile.gettempdir()}/authservice-mails-of-tenants",
    },
    "toy_module/inside": {SETTINGS: "tests.toy_module.settings"},
    "twofactor/inside": {SETTINGS: "tests.twofactor.staff.settings"},
    "upgrade/inside": {SETTINGS: "tests.upgrade.settings"},
    "user_models/inside/test_example.py": _users("ExampleUser"),
    "user_models/inside/test_flags.py": _users("NumberUser"),
    "user_models/inside/test_login_names.py": _users("NumberUser"),
    "user_models/inside/test_pages.py": _users("NumberUser"),
    "user_models/inside/test_parent_table.py": _users("ChildUser"),
    "user_models/inside/test_refused_rows.py": _users("StrictUser"),
    "user_models/inside/test_unique_constraints.py": _users("ColumnsUser"),
    "user_models/inside/test_validators.py": _users("StrictUser"),
    "hosts/inside/test_axes.py": {"TEST_HOST": "axes"},
    "hosts/inside/test_databases.py": {"TEST_HOST": "two_databases"},
    "hosts/inside/test_hidden_inactive.py": {"TEST_HOST": "hidden_inactive"},
    "hosts/inside/test_neighbours.py": {"TEST_HOST": "neighbours"},
    "hosts/inside/test_readers.py": {"TEST_HOST": "readers", "READS": "body"},
    "hosts/inside/test_simplejwt.py": {"TEST_HOST": "simplejwt"},
    "hosts/inside/test_spectacular.py": {"TEST_HOST": "spectacular", "OAS_VERSION": "3.1.1"},
    "hosts/inside/test_subpath.py": {"TEST_HOST": "subpath"},
}


# As a wrapper it runs before pytest-django, which reads the settings in the same hook.
@pytest.hookimpl(wrapper=True)
def pytest_load_initial_conftests(early_config):
    options = early_config.known_args_namespace
    if not getattr(options, "ds", None) and SETTINGS not in os.environ:
        for name, value in host_of(options.file_or_dir).items():
            os.environ.setdefault(name, value)
    return (yield)


def host_of(paths: list[str]) -> dict[str, str]:
    """The environment that these paths need. Raises `UsageError` if they need different ones."""
    hosts = {path: _host(path.partition("::")[0]) for path in paths}
    first = next(iter(hosts), "")
    for path, host in hosts.items():
        if host != hosts[first]:
            raise pytest.UsageError(f"{path} has another host than {first}: run them in turn.")
    return hosts.get(first, {})


def _host(path: str) -> dict[str, str]:
    place = Path(path).resolve()
    return next(
        (host for name, host in HOSTS.items() if place.is_relative_to(ROOT / "tests" / name)), {}
    )
