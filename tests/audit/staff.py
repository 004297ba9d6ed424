"""Requests of a staff user to Django admin, and the values that their audit entries must have."""

from django.test import Client

from tests.admin.inside.conftest import listed
from tests.audit.world import AGENT, metadata

HEADERS = {"User-Agent": AGENT, "X-Request-ID": "a-page"}


class Browser:
    def __init__(self, user):
        self.user = user
        self._client = Client(headers=HEADERS)
        self._client.force_login(user)

    def get(self, path, **query):
        return self._client.get(path, query)

    def send(self, path, **form):
        return self._client.post(path, form, follow=True)

    def act(self, model, action, *rows):
        form = {"action": action, "_selected_action": [str(row.pk) for row in rows]}
        form["confirmed"] = "yes"
        return self.send(listed(model), **form)


def check(entries):
    for entry in entries:
        assert (entry.actor_type, entry.ip_address) == ("admin", "127.0.0.1")
        assert (entry.user_agent, metadata(entry)["request_id"]) == (AGENT, "a-page")
