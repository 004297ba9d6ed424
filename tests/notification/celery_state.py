"""State of a request that is in no row and in no setting: the tenant, which each mail names."""

from contextlib import contextmanager
from contextvars import ContextVar

from django.core.mail.backends import smtp

tenant = ContextVar("tenant", default="none")


def capture():
    return {"tenant": tenant.get()}


@contextmanager
def restore(state):
    token = tenant.set(state["tenant"])
    try:
        yield
    finally:
        tenant.reset(token)


class EmailBackend(smtp.EmailBackend):
    def send_messages(self, email_messages):
        for email in email_messages:
            email.extra_headers["X-Tenant"] = tenant.get()
        return super().send_messages(email_messages)
