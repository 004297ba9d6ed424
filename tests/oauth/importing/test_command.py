"""The command: its sources and arguments, and what a large table costs."""

from datetime import timedelta
from io import StringIO

import pytest
from django.contrib.auth import get_user_model
from django.core.management import CommandError, call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from tests.oauth.importing.conftest import OLD, allauth, social
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
    # 3 batches (the last one empty) and the count; per batch: earlier imports, lock, two of links,
    # proofs, removals, insert, users, imported rows. What is left in other tables: none.
    assert len(selects) <= 4 + 2 * 9


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
    shown = run()

    assert "social_django (provider links): ready\n" in shown
    assert "allauth (provider links): ready\n" in shown
    assert "allauth (verified addresses): ready\n" in shown
    assert "knox (left in the tables of the package): no such table is installed.\n" in shown


def test_source_whose_package_is_missing_is_named(run, settings):
    settings.INSTALLED_APPS = [app for app in settings.INSTALLED_APPS if app != "social_django"]

    assert "social_django (provider links): 'social_django' is not in INSTALLED_APPS." in run()
    with pytest.raises(CommandError, match="'social_django' is not in INSTALLED_APPS"):
        run("social_django")


def test_links_are_left_without_the_module(run, settings, old_user):
    allauth(old_user)
    settings.INSTALLED_APPS = [one for one in settings.INSTALLED_APPS if "oauth" not in one]

    assert "social_django" not in run()
    shown = run("allauth")
    assert "add 'authservice.oauth' to INSTALLED_APPS" in shown
    assert f"rows socialaccount.SocialAccount (user {old_user.pk})" in shown


def test_part_whose_app_is_missing_is_named(run, settings, old_user):
    allauth(old_user)
    settings.INSTALLED_APPS = [one for one in settings.INSTALLED_APPS if one != "allauth.account"]

    shown = run("allauth")

    assert "verified addresses: not read. 'allauth.account' is not in INSTALLED_APPS." in shown
    assert "provider links: 1 row read" in shown


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("devise",), "There is no source 'devise'. Sources of the installed modules: "),
        (("knox",), "no such table is installed"),
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
