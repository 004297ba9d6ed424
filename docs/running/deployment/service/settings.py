"""Settings for several machines. The variables are those of the example project and these:

`CELERY_BROKER_URL`
    A RabbitMQ server.
`SIGNING_KEYS_FILE`
    The file of `authservice_keys`, the same on all web servers. Workers sign no tokens, and have
    none.
"""

import os

from authservice.key_file import load
from example_project.settings import *  # noqa: F403
from example_project.settings import AUTHSERVICE

ROOT_URLCONF = "service.urls"
if SIGNING_KEYS_FILE := os.environ.get("SIGNING_KEYS_FILE"):
    AUTHSERVICE["SIGNING_KEYS"] = load(SIGNING_KEYS_FILE)
# The two processes of gunicorn together run as many hashes as there are cores.
AUTHSERVICE["CORE"]["HASHES_IN_FLIGHT"] = max(1, (os.cpu_count() or 1) // 2)
AUTHSERVICE["NOTIFICATION"] |= {"DISPATCHER": "celery", "NOTICE_QUEUE": "notices"}
CELERY_BROKER_URL = os.environ["CELERY_BROKER_URL"]
# The load balancer and Kubernetes send their checks over http.
SECURE_REDIRECT_EXEMPT = [r"^healthz"]
