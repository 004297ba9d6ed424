"""The example project with signing keys in a file, and so short a retention that rows come and go
within minutes."""

import os
from datetime import timedelta

from authservice.audit.conf import RETENTION
from authservice.key_file import load
from example_project.settings import *  # noqa: F403
from example_project.settings import AUTHSERVICE

AUTHSERVICE |= {
    "SESSION_TTL": 900,
    "SIGNING_KEYS": load(os.environ["SIGNING_KEYS_FILE"]),
    "AUDIT": {"RETENTION": dict.fromkeys(RETENTION, timedelta(minutes=5))},
}
