"""A host whose middleware reads every request before authservice.

`READS` sets what it reads: `body`, like middleware that logs requests, or `POST`, like middleware
that reads a form field. Both consume the stream.
"""

from __future__ import annotations

import os
from typing import Any


def change(settings: dict[str, Any]) -> None:
    reader = {"body": "Body", "POST": "Form"}[os.environ["READS"]]
    settings["MIDDLEWARE"].insert(0, f"tests.hosts.readers.middleware.{reader}")
