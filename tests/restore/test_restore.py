"""A backup is restored with the commands of docs/running/backup.rst, and users log in again."""

import json
import os
import shlex
import shutil
import subprocess
from urllib.parse import urlsplit

import pytest

from tests.hosts.runs import python
from tests.hosts.servers import own_database
from tests.snippets.blocks import of_page

KEY, OTHER = "a key of the backup, long enough to be one", "another key, long enough to be one too"
POSTGRESQL = os.environ.get("DATABASE_URL", "").startswith("postgres")
PROGRAM = "pg_dump" if POSTGRESQL else "sqlite3"
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not shutil.which(PROGRAM), reason=f"needs {PROGRAM}"),
]


def documented(start):
    """The only command of the page that begins with these words."""
    lines = [
        line for block in of_page("docs/running/backup.rst") for line in block.code.splitlines()
    ]
    [command] = {line for line in lines if line.startswith(start)}
    return command


def story(part, kept, url, **keys):
    run = python(
        *("-W", "ignore", "-m", "tests.restore.story", part, str(kept)),
        DJANGO_SETTINGS_MODULE="tests.restore.settings",
        DATABASE_URL=url,
        **keys,
    )
    assert run.returncode == 0, run.stdout
    return run.stdout.splitlines()


def run_in(folder, command, url):
    """Run a command of the page with the database of the URL."""
    parts = urlsplit(url)
    server = {"PGHOST": parts.hostname, "PGPORT": str(parts.port or 5432), "PGUSER": parts.username}
    own = {**os.environ, **(server if POSTGRESQL else {})}
    subprocess.run(shlex.split(command), cwd=folder, env=own, check=True, timeout=60)


@pytest.fixture(scope="module")
def backup(tmp_path_factory):
    """A folder with a backup of a database with users, and with what they keep."""
    folder = tmp_path_factory.mktemp("backup")
    with own_database("backup", folder) as url:
        story("before", folder / "kept.json", url, KEY=KEY)
        if POSTGRESQL:
            command = documented("pg_dump").replace(" shop", " " + urlsplit(url).path[1:])
        else:
            command = documented("sqlite3")
        run_in(folder, command, url)
    return folder


def restore(backup, url, folder):
    if POSTGRESQL:
        command = documented("pg_restore").replace("=shop", "=" + urlsplit(url).path[1:])
        run_in(backup, command, url)
    else:
        shutil.copy(backup / "backup.sqlite3", folder / "backup.sqlite3")
        run_in(folder, documented("mv"), url)


@pytest.mark.parametrize(
    ("keys", "session", "backup_code"),
    [
        ({"KEY": KEY}, 200, 200),
        ({"KEY": OTHER, "FALLBACKS": KEY}, 200, 200),
        ({"KEY": OTHER}, 401, 401),
    ],
    ids=["the same key", "the key as a fallback", "the key is lost"],
)
def test_restored_users_log_in_and_a_lost_key_costs_the_second_factor(
    backup, tmp_path, keys, session, backup_code
):
    with own_database("restored", tmp_path) as url:
        restore(backup, url, tmp_path)
        seen = json.loads(story("after", backup / "kept.json", url, **keys)[-1])

    assert seen == {
        "session": session,
        "ended session": 401,
        "refresh": 401,
        "password": "signed_in",
        "password of two": "challenge",
        "backup code": backup_code,
    }
