"""`python -m tests.languages` brings the catalogues in line with the code and compiles them.

It adds new texts with an empty translation, drops those that are no longer in the code, and lists
what is left to do. Translate the empty ones in the .po files and run it again. With `--check`
nothing is written. The exit status is 1 if anything is left to do.
"""

from __future__ import annotations

import os
import sys

import django

os.environ |= {
    "DJANGO_SETTINGS_MODULE": "tests.settings",
    "TEST_HOST": "everything",
    "DATABASE_URL": "sqlite://:memory:",
}
django.setup()

from tests.languages import catalogues  # noqa: E402

if __name__ == "__main__":
    if "--check" not in sys.argv:
        for language in catalogues.LANGUAGES:
            catalogues.update(language)
    left = catalogues.all_problems()
    print("\n".join(left) or "Every text has its translations.")
    sys.exit(bool(left))
