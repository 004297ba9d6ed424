"""A host whose middleware looks into every request before we do.

`READS` says what it reads first: `body`, as one that logs requests does, or `POST`, as one that
looks for a form field does. Each leaves the stream behind it spent.
"""

from __future__ import annotations

import os
from typing import Any


def change(settings: dict[str, Any]) -> None:
    reader = {"body": "Body", "POST": "Form"}[os.environ["READS"]]
    settings["MIDDLEWARE"].insert(0, f"tests.hosts.readers.middleware.{reader}")
