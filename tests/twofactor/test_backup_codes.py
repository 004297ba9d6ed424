"""Backup codes: each works once instead of a code of the app, in several notations."""

import pytest

from authservice.twofactor.models import BackupCode

pytestmark = pytest.mark.django_db
REFUSED = (401, "TWO_FACTOR_INVALID")
INVALID = (400, "TWO_FACTOR_INVALID")


def remaining(person):
    return person.get("2fa/status").data["backup_codes_remaining"]


def test_backup_code_works_once(enrolled):
    for code in enrolled.backup_codes:
        assert enrolled.verify_login(code).status == 200

    assert enrolled.verify_login(enrolled.backup_codes[0]).error == REFUSED
    assert remaining(enrolled) == 0


def test_status_shows_how_many_backup_codes_remain(enrolled):
    enrolled.verify_login(enrolled.backup_codes[3])

    assert remaining(enrolled) == 9


@pytest.mark.parametrize(
    "change",
    [str.lower, lambda c: c.replace("-", ""), lambda c: c.replace("-", " "), lambda c: f" {c} "],
)
def test_backup_code_is_accepted_in_any_case_with_any_separator(enrolled, change):
    assert enrolled.verify_login(change(enrolled.backup_codes[0])).status == 200


@pytest.mark.parametrize("change", [lambda c: c[:-1], lambda c: c + "A", lambda c: c[:-1] + "ſ"])
def test_backup_code_with_other_characters_is_refused(enrolled, change):
    # The long s is read as an s.
    code = next(code for code in enrolled.backup_codes if not code.endswith("S"))

    assert enrolled.verify_login(change(code)).error == REFUSED


def test_app_code_still_works_after_a_backup_code(enrolled):
    enrolled.verify_login(enrolled.backup_codes[0])

    assert enrolled.verify_login(enrolled.code()).status == 200


@pytest.mark.parametrize("route", ["2fa/disable", "2fa/backup-codes"])
def test_backup_code_does_not_change_the_factor(enrolled, route):
    assert enrolled.post(route, code=enrolled.backup_codes[0]).error == INVALID
    assert remaining(enrolled) == 10


def test_backup_codes_are_not_stored_in_plain_text(enrolled):
    rows = str(list(BackupCode.objects.values()))

    assert not any(code in rows or code.replace("-", "") in rows for code in enrolled.backup_codes)


# A new set


def test_new_set_is_returned_once(enrolled):
    answer = enrolled.post("2fa/backup-codes", code=enrolled.code())

    assert answer.status == 200
    assert set(answer.data) == {"backup_codes", "message"}
    assert len(set(answer.data["backup_codes"])) == 10
    assert answer.headers["Cache-Control"] == "no-store, private"


def test_new_set_ends_the_old_one(enrolled):
    new = enrolled.post("2fa/backup-codes", code=enrolled.code()).data["backup_codes"]

    assert enrolled.verify_login(enrolled.backup_codes[0]).error == REFUSED
    assert enrolled.verify_login(new[0]).status == 200
    assert remaining(enrolled) == 9


def test_new_set_needs_a_right_code(enrolled):
    assert enrolled.post("2fa/backup-codes", code=enrolled.wrong_code()).error == INVALID
    assert enrolled.verify_login(enrolled.backup_codes[0]).status == 200


def test_new_set_uses_its_code(enrolled):
    code = enrolled.code()
    enrolled.post("2fa/backup-codes", code=code)

    assert enrolled.post("2fa/backup-codes", code=code).error == INVALID


@pytest.mark.parametrize("set_up", [False, True])
def test_new_set_without_an_enabled_factor_is_refused(ann, set_up):
    if set_up:
        ann.set_up()

    answer = ann.post("2fa/backup-codes", code="123456")

    assert answer.error == (400, "TWO_FACTOR_NOT_ENABLED")
