"""Users log in, unlink and are deleted while the import runs: it continues, and nothing is lost."""

from contextlib import suppress
from functools import partial

import pytest
from django.apps import apps
from django.contrib.auth import get_user_model
from django.db import IntegrityError

from authservice.oauth.models import LinkedAccount
from tests.oauth.browsing import Browser, profile
from tests.oauth.importing.conftest import OLD, social
from tests.oauth.in_process import office
from tests.support.people import make_user

SIZE = 8
MAPPED = ("social_django", "--map", "old=acme")


def returning(api, who):
    """A callback of a browser of its own, about to be requested."""
    browser = Browser(api)
    return partial(browser.come_back, office.approve(browser.start(), who))


def old_users(number):
    """Users with a link in the other package; the provider has verified their addresses."""
    made: list = []
    apps.get_app_config("social_django").get_model("UserSocialAuth").objects.all().delete()
    for place in range(SIZE):
        name = f"user{number}-{place}"
        user = make_user(f"{name}@example.com", password=None, last_login=OLD)
        social(user, "old", name)
        made.append((user, profile(name, f"{name}@example.com")))
    return made


def delete(pk):
    # Django collects what it deletes before it deletes the user, so a link that was imported in
    # between refuses the deletion.
    with suppress(IntegrityError):
        get_user_model()(pk=pk).delete()


def links(users):
    rows = LinkedAccount.objects.filter(user__in=users).values_list("user", "provider", "subject")
    return sorted(rows)


@pytest.mark.parametrize("batch", ["1", "500"])
def test_logins_during_an_import_link_each_user_once(crowd, api, run, rounds, batch):
    for number in rounds:
        known = old_users(number)
        logins = [returning(api, who) for _, who in known]

        report, *answers = crowd.race([partial(run, *MAPPED, "--batch-size", batch), *logins])

        assert {answer.status for answer in answers} == {200}
        assert "0 skipped" in report or "proven here later" in report
        assert "0 conflicts" in report
        expected = sorted((user.pk, "acme", who.subject) for user, who in known)
        assert links([user for user, _ in known]) == expected
        reached = {answer.data["user"]["id"] for answer in answers}
        assert reached == {str(user.pk) for user, _ in known}


def test_new_accounts_with_the_same_subjects_are_never_overwritten(crowd, api, run, rounds):
    """Without the address of the old account, the first login creates another account: which of
    the two has the link is open, but only one has it."""
    for number in rounds:
        known = old_users(number)
        moved = [profile(who.subject, f"new-{who.email}") for _, who in known]

        report, *answers = crowd.race([partial(run, *MAPPED), *(returning(api, w) for w in moved)])

        assert {answer.status for answer in answers} == {200}
        subjects = [who.subject for _, who in known]
        rows = LinkedAccount.objects.filter(subject__in=subjects).values_list("subject", "user")
        assert sorted(subject for subject, _ in rows) == sorted(subjects)
        reached = {answer.data["user"]["id"] for answer in answers}
        assert reached == {str(user) for _, user in rows}


def test_imports_at_once_import_each_link_once(crowd, run, rounds):
    for number in rounds:
        users = [user for user, _ in old_users(number)]

        crowd.race([partial(run, *MAPPED, "--batch-size", "3")] * 4)

        assert len(links(users)) == SIZE


def test_users_who_are_deleted_during_an_import_do_not_stop_it(crowd, run, rounds):
    for number in rounds:
        pks = [user.pk for user, _ in old_users(number)]
        deletions = [partial(delete, pk) for pk in pks[::2]]

        report, *_ = crowd.race([partial(run, *MAPPED, "--batch-size", "4"), *deletions])

        assert "conflicts" in report
        present = get_user_model().objects.filter(pk__in=pks).values_list("pk", flat=True)
        assert {user for user, _, _ in links(pks)} == set(present) >= set(pks[1::2])
