"""The public app of the project: its tenants, and the module of the docs that names their state."""

from contextlib import ExitStack

from django.apps import AppConfig

from tests.support.documented import Page

_until_the_process_ends = ExitStack()


class Customers(AppConfig):
    name = "tests.tenants.customers"
    label = "customers"

    def ready(self) -> None:
        _until_the_process_ends.enter_context(Page("notification").installed("tenants"))
