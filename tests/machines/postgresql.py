"""A primary and a standby, set up by the scripts of `docs/running/deployment`."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from tests.faults.cluster import DATABASE, PASSWORD, ROLE, Cluster
from tests.machines.programs import DEPLOYMENT

_REPLICATION_PASSWORD = "the-password-of-the-standby"


class Primary(Cluster):
    def populate(self) -> None:
        """The role and the database have the names that the script gives them."""
        assert (ROLE, DATABASE) == ("shop", "shop")
        _run("postgresql-primary.sh", self, PGHOST=self.folder, SHOP_PASSWORD=PASSWORD)
        self.run("SELECT pg_reload_conf()", database="postgres")


class Standby(Cluster):
    def follow(self, primary: Cluster) -> None:
        """Become a running standby of `primary`, which waits for it at each commit."""
        entry_point = self.folder / "docker-entrypoint.sh"
        entry_point.write_text("#!/bin/sh\n")  # the server is started below, as for other tests
        entry_point.chmod(0o755)
        _run("postgresql-standby.sh", self, PRIMARY="127.0.0.1", PGPORT=primary.port)
        self.configure()
        self.start()


def _run(script: str, cluster: Cluster, **variables: object) -> None:
    given = {
        "PGDATA": cluster.data,
        "PGPORT": cluster.port,
        "REPLICATION_PASSWORD": _REPLICATION_PASSWORD,
        **variables,
    }
    environment = {**os.environ, **{name: str(value) for name, value in given.items()}}
    programs = max(Path("/usr/lib/postgresql").glob("*/bin"), default=Path("/usr/bin"))
    environment["PATH"] = f"{cluster.folder}:{programs}:{os.environ['PATH']}"
    as_user = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"]
    subprocess.run(
        # As text: another user may not be able to read the files of the project.
        [*(as_user if os.geteuid() == 0 else []), "sh", "-c", (DEPLOYMENT / script).read_text()],
        cwd="/",
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        check=True,
    )
