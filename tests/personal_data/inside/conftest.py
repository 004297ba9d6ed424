from collections.abc import Iterator
from contextlib import ExitStack

import pytest
from django.apps import apps
from django.conf import settings as project
from django.db import transaction
from django.test import TestCase, override_settings

from tests.personal_data import story
from tests.personal_data.story import Ann, PlumApi
from tests.support.flows import CommittingApi
from tests.support.messenger.post import receiving_jobs

# These tests need a host with every module: `test_personal_data.py` one folder above runs them.
collect_ignore_glob = [] if apps.is_installed("authservice.audit") else ["test_*.py"]


class CommittingPlumApi(PlumApi):
    def request(self, *arguments, **options):
        with TestCase.captureOnCommitCallbacks(execute=True):
            return super().request(*arguments, **options)


@pytest.fixture(scope="module")
def module_ann(django_db_setup, django_db_blocker) -> Iterator[Ann]:
    """Ann, who has used everything: once for a file, since that takes half a second."""
    with ExitStack() as held:
        held.enter_context(django_db_blocker.unblock())
        held.enter_context(override_settings(AUTHSERVICE=project.AUTHSERVICE | story.SETTINGS))
        post = held.enter_context(receiving_jobs())
        around = transaction.atomic()
        around._from_testcase = True  # as that of a `TestCase`: no transaction of the service
        held.enter_context(around)
        yield story.tell(CommittingPlumApi(), CommittingApi(), post)
        transaction.set_rollback(True)


@pytest.fixture
def ann(module_ann, db) -> Ann:
    """Ann in a transaction of this test."""
    return module_ann
