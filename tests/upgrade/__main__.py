"""`python -m tests.upgrade` records the data of this release, which later ones must accept.

It writes the folder `tests/upgrade/X.Y` of `authservice.__version__`, and replaces what is there.
Commit it with the release, and never change it afterwards: docs/releasing.rst.
"""

from __future__ import annotations

import sys

from tests.hosts import runs
from tests.release import ready
from tests.upgrade import files


def main() -> int:
    folder = files.FOLDER / ready.version().rpartition(".")[0]
    for module in files.LOGIN_MODULES:
        ran = runs.python(
            *("-m", "tests.upgrade.recording", str(folder / module)),
            **runs.SQLITE,
            DJANGO_SETTINGS_MODULE="tests.upgrade.settings",
            LOGIN_MODULE=module,
        )
        if ran.returncode:
            print(ran.stdout)
            return 1
    files.write(folder / files.MIGRATIONS, files.migrations())
    print(f"Recorded {folder.relative_to(files.ROOT)}.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
