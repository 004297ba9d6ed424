"""`python -m tests.machines.galera [PYTEST OPTION …]`: the races on a cluster of three nodes.

Each connection goes to the next node, so the requests of a race write on all of them. Exits with 1
if a test fails.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import MySQLdb
import pytest

from tests.hosts.runs import ROOT
from tests.machines.programs import Program, at, wait_until
from tests.support.ports import free_port

PROVIDER = Path("/usr/lib/galera/libgalera_smm.so")
NODES = 3
# Folders of races, each with the settings that its tests need.
PARTS = {
    "tests.settings": (
        "tests/races",
        "tests/core/own_account/races",
        "tests/core/recovery/races",
        "tests/session/races",
        "tests/magiclink/races",
        "tests/invitation/races",
        "tests/oauth/races",
        "tests/oauth/importing/races",
    ),
    "tests.organization.settings": ("tests/organization/inside/races",),
    "tests.compat.settings": ("tests/compat/inside/races",),
    "tests.coming_from.settings": ("tests/coming_from/inside/races",),
    "tests.extending.settings": ("tests/extending/inside/races",),
}
# Tests of what a row lock serialises, which Galera does not have between nodes; the docs list them.
SKIPPED = (
    # Two transactions that each leave one administrator, and none together: needs one writer node.
    "tests/races/test_super_admins.py",
    # A retried request counts its attempt again, so fewer attempts are possible than on one server.
    "tests/races/test_attempts.py::test_parallel_correct_passwords",
    "tests/races/test_attempts.py::test_parallel_wrong_passwords_on_a_device_are_checked",
    "tests/races/test_second_factors.py::test_backup_code_works_once_with_parallel_temp_tokens",
    "tests/races/test_second_factors.py::test_temp_token_accepts_five_parallel_attempts",
    "tests/races/test_second_factors.py::test_all_backup_codes_work_in_parallel",
    "tests/races/test_passwords.py::test_logins_during_a_reset",
    "tests/core/own_account/races/test_change_email.py::test_concurrent_requests_leave_one_open_link",
    "tests/core/own_account/races/test_change_email.py"
    "::test_concurrent_requests_beyond_the_limit_of_mails_leave_a_link_that_was_mailed",
    "tests/core/own_account/races/test_change_username.py"
    "::test_free_username_that_several_users_choose_goes_to_one",
    # 32 logins that write the row of one user can need more attempts than a request has.
    "tests/session/races/test_limit.py"
    "::test_concurrent_logins_leave_no_more_sessions_than_the_limit",
    # The transaction that commits last is aborted, which is not the one that these tests expect.
    "tests/races/test_deadlocks.py",
    "tests/races/test_deletion.py::test_row_inserted_during_a_deletion_does_not_undo_it",
    # The login and the second step both succeed, because neither waits for the other.
    "tests/races/test_lock_order.py::test_hash_upgrade_and_second_step_do_not_deadlock",
    # One of the parallel clicks may be refused because its link is invalid.
    "tests/core/recovery/races/test_links.py"
    "::test_verification_link_used_concurrently_succeeds_for_all_and_acts_once",
    # Transactions that lock the same row, and write others, do not conflict.
    "tests/core/recovery/races/test_denial.py"
    "::test_concurrent_confirmation_and_denial_succeed_only_once",
    "tests/core/recovery/races/test_takeover.py"
    "::test_profile_change_beside_a_reset_never_sets_a_number",
    "tests/session/races/test_ends.py::test_concurrent_revocations_of_one_session_record_one_event",
    "tests/session/races/test_limit.py::test_session_ended_by_the_limit_is_recorded_once",
    "tests/invitation/races/test_sending.py::test_same_invitation_sent_concurrently_exists_once",
    "tests/oauth/races/test_races.py::test_last_two_providers_unlinked_at_once_keep_one",
    "tests/organization/inside/races/test_owners.py",
    "tests/organization/inside/races/test_joining.py"
    "::test_removed_member_who_switches_meanwhile_has_no_claim_afterwards",
    "tests/organization/inside/races/test_joining.py"
    "::test_concurrent_joins_do_not_exceed_the_maximum_of_members",
    "tests/organization/inside/races/test_joining.py::test_one_address_is_invited_once",
)
_SETTINGS = """
[mariadbd]
datadir={folder}/data
socket={folder}/socket
pid-file={folder}/pid
port={port}
bind-address=127.0.0.1
max_connections=200
character-set-server=utf8mb4
binlog_format=ROW
default_storage_engine=InnoDB
innodb_autoinc_lock_mode=2
innodb_flush_log_at_trx_commit=0
innodb_buffer_pool_size=64M
wsrep_on=ON
wsrep_provider={provider}
wsrep_cluster_address=gcomm://{addresses}
wsrep_node_address=127.0.0.1
wsrep_provider_options="gmcast.listen_addr=tcp://127.0.0.1:{group};ist.recv_addr=127.0.0.1:{transfer};gcache.size=32M"
# A read waits for the commits of the other nodes.
wsrep_sync_wait=1
"""
_BALANCER = """
global
    maxconn 1000
defaults
    mode tcp
    timeout connect 2s
    timeout client 1h
    timeout server 1h
listen nodes
    bind {address}
    balance roundrobin
"""


class Node:
    def __init__(self, folder: Path) -> None:
        self.folder, self.port, self.group = folder, free_port(), free_port()
        folder.mkdir()

    def configure(self, addresses: str) -> None:
        values = {"folder": self.folder, "port": self.port, "group": self.group}
        text = _SETTINGS.format(
            **values, provider=PROVIDER, addresses=addresses, transfer=free_port()
        )
        (self.folder / "my.cnf").write_text(text)

    def install(self) -> None:
        subprocess.run(
            ["mariadb-install-db", f"--defaults-file={self.folder}/my.cnf", *_as_user(),
             "--auth-root-authentication-method=normal", "--skip-test-db"],
            check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip

    def start(self, *options: str) -> Program:
        command = ["mariadbd", f"--defaults-file={self.folder}/my.cnf", *_as_user(), *options]
        program = Program(self.folder, *command)
        try:
            wait_until(self.synced, f"node {self.port} is synced", 60)
        except AssertionError:
            program.stop()
            print(program.log.read_text()[-3000:])
            raise
        return program

    def synced(self) -> bool:
        try:
            found = self.run("SHOW STATUS LIKE 'wsrep_local_state_comment'")
        except MySQLdb.OperationalError:
            return False
        return bool(found) and found[0][1] == "Synced"

    def run(self, sql: str) -> tuple[tuple[str, ...], ...]:
        connection = MySQLdb.connect(host="127.0.0.1", port=self.port, user="root")
        try:
            with connection.cursor() as cursor:
                cursor.execute(sql)
                return cursor.fetchall()
        finally:
            connection.close()


@contextmanager
def running(folder: Path) -> Iterator[int]:
    """Start the nodes and a balancer; yields its port."""
    nodes = [Node(folder / f"node-{number}") for number in range(NODES)]
    addresses = ",".join(at(node.group) for node in nodes)
    for node in nodes:
        node.configure(addresses)
    first, *others = nodes
    first.install()
    _give_away(folder)
    # A stopped node that is copied has the same position, so nothing has to be transferred.
    first.start("--wsrep-new-cluster").stop()
    for node in others:
        shutil.copytree(first.folder / "data", node.folder / "data")
    _give_away(folder)
    with ExitStack() as stack:
        stack.callback(first.start("--wsrep-new-cluster").stop)
        for node in others:
            stack.callback(node.start().stop)
        size = first.run("SHOW STATUS LIKE 'wsrep_cluster_size'")[0][1]
        assert size == str(NODES), size
        yield stack.enter_context(_balanced(folder, nodes))


@contextmanager
def _balanced(folder: Path, nodes: list[Node]) -> Iterator[int]:
    port = free_port()
    servers = [f"    server {number} {at(node.port)}\n" for number, node in enumerate(nodes)]
    file = folder / "balancer.cfg"
    file.write_text(_BALANCER.format(address=at(port)) + "".join(servers))
    balancer = Program(folder, "haproxy", "-db", "-f", str(file))
    try:
        yield port
    finally:
        balancer.stop()


def _as_user() -> list[str]:
    return ["--user=mysql"] if os.geteuid() == 0 else []


def _give_away(folder: Path) -> None:
    if os.geteuid() == 0:
        subprocess.run(["chown", "-R", "mysql:mysql", str(folder)], check=True)


def main() -> int:
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        folder.chmod(0o755)
        _give_away(folder)
        with running(folder) as port:
            ends = [_run(port, settings, folders) for settings, folders in PARTS.items()]
            return int(any(ends))


def _run(port: int, settings: str, folders: tuple[str, ...]) -> int:
    kept = [f"--deselect={name}" for name in SKIPPED if name.startswith(folders)]
    command = [
        *(sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--ds={settings}"),
        *(*folders, *kept, *sys.argv[1:]),
    ]
    variables = {"DATABASE_URL": f"mysql://root@{at(port)}/galera"}
    end = subprocess.run(command, cwd=ROOT, env={**os.environ, **variables}, check=False).returncode
    # Options such as `-k` may select no test of a part.
    return 0 if end == pytest.ExitCode.NO_TESTS_COLLECTED else end


if __name__ == "__main__":
    sys.exit(main())
