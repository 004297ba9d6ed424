"""`pytest PATH` runs each test file, in the host that it is about."""

import pytest

from tests.hosts.runs import python
from tests.support.places import HOSTS, ROOT, host_of

TESTS = ROOT / "tests"
INSIDE = [path for path in sorted(TESTS.rglob("test_*.py")) if "inside" in path.parts]


def test_files_that_another_test_starts_have_a_host():
    # Any host runs the essentials of the others.
    anywhere = {"test_backends.py", "test_essentials.py", "test_fixtures.py", "test_migrations.py"}

    without = [path for path in INSIDE if not host_of([f"{path}::test_name"])]

    assert {path for path in without if path.parent != TESTS / "hosts" / "inside"} == set()
    assert {path.name for path in without} <= anywhere
    assert [name for name in HOSTS if not (TESTS / name).exists()] == []


def test_paths_of_two_hosts_are_refused():
    with pytest.raises(pytest.UsageError, match=r"tests/core has another host than tests/pages/in"):
        host_of(["tests/pages/inside", "tests/core"])
    with pytest.raises(pytest.UsageError, match="run them in turn"):
        host_of(["tests/core", "tests/core/users", "tests/audit/inside/test_entries.py::test_one"])

    assert host_of([]) == host_of(["tests", "tests/core/users/test_sync.py"]) == {}


@pytest.mark.slow
def test_each_file_is_collected_by_its_path():
    silent = {}
    for name in HOSTS:
        path = TESTS / name
        file = path if path.is_file() else next(path.rglob("test_*.py"))
        database = "postgres://postgres@127.0.0.1:5432/none" if name == "tenants/inside" else ""
        run = python(
            *("-m", "pytest", "--collect-only", "-q", "-m", "", str(file)),
            **({"DATABASE_URL": database} if database else {}),
        )
        if run.returncode or "::test_" not in run.stdout:
            silent[name] = run.stdout[-500:]

    assert silent == {}
