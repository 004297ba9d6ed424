"""The page of system checks, from what the apps declare."""

from __future__ import annotations

from collections.abc import Iterator

from authservice.kernel.checks import CHECKS, LEVELS
from tests.reference import rst

INTRO = """
You want to know what a message of ``manage.py check`` means: find it here by its number. This line
runs all checks:

.. code-block:: sh

   python manage.py check --deploy --database default

``--deploy`` adds the checks that matter only in production, ``--database`` those that read tables.
Errors stop commands such as ``migrate`` and ``runserver``. The message on the console names the
setting and, where it is no secret, the value. To silence a warning, add its id to Django's
``SILENCED_SYSTEM_CHECKS``.
"""
_WORDS = {"E": "error", "W": "warning", "I": "information"}


def page() -> str:
    return rst.page("System checks", INTRO, _entries())


def _entries() -> Iterator[str]:
    for name in sorted(CHECKS, key=lambda name: (name[-3:], name)):
        check = CHECKS[name]
        letter = next(letter for letter, level in LEVELS.items() if level == check.level)
        body = rst.fields(
            {
                "Level": _WORDS[letter],
                "Cause": rst.prose(check.cause),
                "What to do": rst.prose(check.remedy),
            }
        )
        yield rst.entry(rst.anchor("check", name[-4:]), rst.literal(name), body)
