"""Plays a request to the project's web server: creates Ann and sends her a reset link."""

import os

import django

django.setup()

from django.core.management import call_command  # noqa: E402

from authservice.kernel import message_queue  # noqa: E402
from authservice.kernel.client import Client  # noqa: E402
from tests.notification import celery_app, celery_state  # noqa: E402, F401
from tests.support.people import make_user  # noqa: E402

call_command("migrate", verbosity=0)
make_user()
celery_state.tenant.set("acme")
client = Client(request_id="request-7", language=os.environ.get("TEST_LANGUAGE", ""))
message_queue.send("reset-link", "ann@example.com", client)
