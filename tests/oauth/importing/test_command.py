"""The command: its sources and arguments, and what a large table costs."""

from datetime import timedelta
from io import StringIO

import pytest
from django.contrib.auth import get_user_model
from django.core.management import CommandError, call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from tests.oauth.importing.conftest import OLD, social
from tests.support.people import unsaved

pytestmark = pytest.mark.django_db
MAPPED = ("social_django", "--map", "old=acme")
MANY = 1000


def many(number):
    """This many users with a link each."""
    from social_django.models import UserSocialAuth

    users = [
        unsaved(f"user{place}@example.com", password=None, last_login=OLD)
        for place in range(number)
    ]
    get_user_model().objects.bulk_create(users)
    rows = [
        UserSocialAuth(user=user, provider="old", uid=f"subject-{place}", created=OLD)
        for place, user in enumerate(get_user_model().objects.order_by("pk"))
    ]
    UserSocialAuth.objects.bulk_create(rows)


def test_statements_do_not_depend_on_the_rows_of_a_batch(run):
    many(20)
    with CaptureQueriesContext(
        connection,
    ) as few:
        run(*MAPPED, "--batch-size", "10")

    selects = [one["sql"] for one in few if not one["sql"].startswith(("SAVEPOINT", "RELEASE"))]
    # 3 batches (the last one empty) and the count; per batch: lock, two of links, proofs,
    # removals, insert, users.
    assert len(selects) <= 4 + 2 * 7


def test_thousand_rows_take_few_seconds(run):
    many(MANY)
    begun = timezone.now()

    assert f"{MANY} imported" in run(*MAPPED)

    assert timezone.now() - begun < timedelta(seconds=10)


def test_progress_is_shown_on_a_terminal(old_user):
    class Terminal(StringIO):
        def isatty(self):
            return True

    shown = Terminal()
    social(old_user, "old", "ann-at-acme")

    call_command("authservice_import", *MAPPED, stdout=StringIO(), stderr=shown)

    assert shown.getvalue().endswith("100%\n")


def test_command_lists_the_sources(run):
    assert run() == ("social_django (provider links): ready\nallauth (provider links): ready\n")


def test_source_whose_package_is_missing_is_named(run, settings):
    settings.INSTALLED_APPS = [app for app in settings.INSTALLED_APPS if app != "social_django"]

    assert "social_django (provider links): 'social_django' is not in INSTALLED_APPS." in run()
    with pytest.raises(CommandError, match="'social_django' is not in INSTALLED_APPS"):
        run("social_django")


def test_no_source_without_a_module(run, settings):
    settings.INSTALLED_APPS = [one for one in settings.INSTALLED_APPS if "oauth" not in one]

    assert "need authservice.oauth" in run()
    with pytest.raises(CommandError, match=r"There is no source 'allauth'.*: none\."):
        run("allauth")


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("djoser",), "There is no source 'djoser'. Sources of the installed modules: social_"),
        (("allauth", "--map", "google"), "--map must be THEIRS=OURS"),
        (("allauth", "--map", "=google"), "--map must be THEIRS=OURS"),
        (("allauth", "--map", "a=acme", "--map", "a=other"), "two counterparts of 'a'"),
        (("allauth", "--map", "a=nowhere"), "'nowhere' is not in OAUTH.PROVIDERS"),
        (("allauth", "--since", "yesterday"), "--since must be a date"),
        (("allauth", "--batch-size", "0"), "--batch-size must be at least 1"),
    ],
)
def test_wrong_arguments_are_refused(run, arguments, complaint):
    with pytest.raises(CommandError) as refused:
        run(*arguments)

    assert complaint in str(refused.value)
