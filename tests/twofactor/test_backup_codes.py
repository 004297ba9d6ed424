"""Backup codes: each works once in place of the app's, on paper as it was typed."""

import pytest

from authservice.twofactor.models import BackupCode

pytestmark = pytest.mark.django_db
REFUSED = (401, "TWO_FACTOR_INVALID")
INVALID = (400, "TWO_FACTOR_INVALID")


def left(person):
    return person.get("2fa/status").data["backup_codes_remaining"]


def test_each_opens_once(enrolled):
    for code in enrolled.backup_codes:
        assert enrolled.verify_login(code).status == 200

    assert enrolled.verify_login(enrolled.backup_codes[0]).error == REFUSED
    assert left(enrolled) == 0


def test_the_status_counts_what_is_left(enrolled):
    enrolled.verify_login(enrolled.backup_codes[3])

    assert left(enrolled) == 9


@pytest.mark.parametrize(
    "spell",
    [str.lower, lambda c: c.replace("-", ""), lambda c: c.replace("-", " "), lambda c: f" {c} "],
)
def test_it_may_be_typed_as_people_type(enrolled, spell):
    assert enrolled.verify_login(spell(enrolled.backup_codes[0])).status == 200


@pytest.mark.parametrize("spell", [lambda c: c[:-1], lambda c: c + "A", lambda c: c[:-1] + "ſ"])
def test_nothing_else_is_one(enrolled, spell):
    assert enrolled.verify_login(spell(enrolled.backup_codes[0])).error == REFUSED


def test_after_one_the_app_still_opens(enrolled):
    enrolled.verify_login(enrolled.backup_codes[0])

    assert enrolled.verify_login(enrolled.code()).status == 200


@pytest.mark.parametrize("route", ["2fa/disable", "2fa/backup-codes"])
def test_only_a_code_of_the_app_changes_the_factor(enrolled, route):
    assert enrolled.post(route, code=enrolled.backup_codes[0]).error == INVALID
    assert left(enrolled) == 10


def test_none_is_kept_in_the_clear(enrolled):
    rows = str(list(BackupCode.objects.values()))

    assert not any(code in rows or code.replace("-", "") in rows for code in enrolled.backup_codes)


# A new set


def test_a_new_set_is_answered_once(enrolled):
    answer = enrolled.post("2fa/backup-codes", code=enrolled.code())

    assert answer.status == 200
    assert set(answer.data) == {"backup_codes", "message"}
    assert len(set(answer.data["backup_codes"])) == 10
    assert answer.headers["Cache-Control"] == "no-store"


def test_the_old_ones_die(enrolled):
    new = enrolled.post("2fa/backup-codes", code=enrolled.code()).data["backup_codes"]

    assert enrolled.verify_login(enrolled.backup_codes[0]).error == REFUSED
    assert enrolled.verify_login(new[0]).status == 200
    assert left(enrolled) == 9


def test_it_needs_a_right_code(enrolled):
    assert enrolled.post("2fa/backup-codes", code=enrolled.wrong_code()).error == INVALID
    assert enrolled.verify_login(enrolled.backup_codes[0]).status == 200


def test_its_code_is_used(enrolled):
    code = enrolled.code()
    enrolled.post("2fa/backup-codes", code=code)

    assert enrolled.post("2fa/backup-codes", code=code).error == INVALID


@pytest.mark.parametrize("began", [False, True])
def test_without_a_factor_there_are_none(ann, began):
    if began:
        ann.set_up()

    answer = ann.post("2fa/backup-codes", code="123456")

    assert answer.error == (400, "TWO_FACTOR_NOT_ENABLED")
