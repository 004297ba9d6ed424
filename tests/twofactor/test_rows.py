"""A row that was read before another request changed it gives no right any more."""

import pytest

from authservice.core.users import lookup
from authservice.kernel.secret import Secret
from authservice.twofactor import authenticators
from tests.support.people import the_user

pytestmark = pytest.mark.django_db


def read():
    return authenticators.of(lookup.get_person(the_user()))


def test_time_step_is_used_once(enrolled):
    seen = [read(), read()]
    code = Secret(enrolled.code())

    assert [authenticators.use_statement(found, code).run() for found in seen] == [1, 0]


def test_earlier_time_step_is_refused_after_a_later_one(enrolled):
    found = read()
    now, later = (Secret(enrolled.code(ahead)) for ahead in (0, 1))

    assert authenticators.use_statement(found, later).run()
    assert not authenticators.use_statement(found, now).run()


def test_backup_code_is_used_once(enrolled):
    seen = [read(), read()]

    code = Secret(enrolled.backup_codes[0])
    used = [authenticators.use_code_statement("backup_code", found, code).run() for found in seen]

    assert used == [1, 0]


def test_secret_that_another_setup_replaced_meanwhile_is_not_enabled(ann):
    ann.set_up()
    found = read()
    step = authenticators.step_of(found, Secret(ann.code()))

    ann.set_up()

    assert not authenticators.enable(found, step)
    assert not read().confirmed


def test_secret_of_a_factor_enabled_meanwhile_is_not_replaced(ann):
    ann.enrol()

    assert authenticators.renew(lookup.get_person(the_user()), Secret("A" * 32)) is None


def test_code_of_a_factor_disabled_meanwhile_is_refused(enrolled):
    found, code = read(), enrolled.code()
    enrolled.post("2fa/disable", code=code)

    assert not authenticators.consume_code("totp", found, Secret(enrolled.code(1)))
    assert not authenticators.consume_code("backup_code", found, Secret(enrolled.backup_codes[0]))


def test_code_of_an_unconfirmed_factor_is_refused(ann):
    ann.set_up()

    assert not authenticators.consume_code("totp", read(), Secret(ann.code()))
    assert not authenticators.consume_code("backup_code", read(), Secret(ann.backup_codes[0]))
