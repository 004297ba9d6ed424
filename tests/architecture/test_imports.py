"""The import contracts of pyproject.toml hold."""

import shutil
import subprocess
import sys
from pathlib import Path

PROJECT = Path(__file__).parents[2]


def test_imports_point_down():
    tool = shutil.which("lint-imports", path=str(Path(sys.executable).parent))
    assert tool

    run = subprocess.run(
        [tool, "--config", "pyproject.toml", "--no-cache"],
        cwd=PROJECT,
        capture_output=True,
        text=True,
        check=False,
    )

    assert run.returncode == 0, run.stdout + run.stderr
