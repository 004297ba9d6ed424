"""A project moves from another package, and no user signs in again."""

import subprocess
import sys

import pytest

from tests.hosts.runs import python
from tests.hosts.servers import own_database

STAGES = ("both", "ours", "alone")


def move(folder, old, users, *, programs=STAGES, **variables):
    """Run the stages one after the other, each in a process with its own settings."""
    with own_database(f"moving_{old}", folder) as url:
        for stage, program in zip(STAGES, programs, strict=True):
            run = python(
                *("-W", "ignore", "-m", f"tests.compat.moving.{program}"),
                DJANGO_SETTINGS_MODULE="tests.compat.moving.settings",
                DATABASE_URL=url,
                HELD=str(folder / "held.json"),
                OLD=old,
                STAGE=stage,
                USERS=str(users),
                **variables,
            )
            assert run.returncode == 0, f"{stage}:\n{run.stdout}"


def test_users_of_dj_rest_auth_and_allauth_stay_signed_in(tmp_path):
    move(tmp_path, "rest_auth", 20)


@pytest.mark.slow
def test_ten_thousand_users_of_dj_rest_auth_and_allauth_stay_signed_in(tmp_path):
    move(tmp_path, "rest_auth", 10_000)


@pytest.mark.slow
def test_users_of_djoser_stay_signed_in(tmp_path):
    # In a folder of its own: it requires an older social-auth-app-django than these tests use.
    packages = tmp_path / "packages"
    pip = ("-m", "pip", "install", "--quiet", "--no-deps", "--target", str(packages))
    subprocess.run([sys.executable, *pip, "djoser>=2.3"], check=True)

    move(tmp_path, "djoser", 10_000, PYTHONPATH=str(packages))


@pytest.mark.slow
def test_users_of_django_two_factor_auth_stay_signed_in_and_keep_their_factors(tmp_path):
    move(tmp_path, "two_factor", 10_000, programs=["two_factor"] * len(STAGES))
