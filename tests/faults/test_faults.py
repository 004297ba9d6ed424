"""A short run of the faults of `python -m tests.faults`, and what `docs/faults.rst` promises."""

from dataclasses import replace

import pytest

from tests.faults import cache, mail
from tests.faults.postgresql import FAULTS
from tests.faults.runs import running

pytestmark = [pytest.mark.slow, pytest.mark.once, pytest.mark.xdist_group("faults")]
# The command runs all faults and operations.
CUT = ("login", "refresh")
# On a busy machine no request may arrive while Redis is away for a moment.
_UNTIL_NOTICED = 10


def test_database_faults_break_no_promise():
    with running(FAULTS["stopped"]) as run:
        run.at_every_statement(*CUT)
        run.under_load()
        run.under_load(fault=FAULTS["read-only"])

        assert run.conclude() == []
        assert run.ledger.refused(503) > 0
        assert all(cuts > 2 for cuts in run.cuts.values()), run.cuts


def test_faults_of_redis_and_killed_workers_break_no_promise():
    fault = replace(cache.FAULTS["redis-restarted"], kills_workers=True)
    with running(fault) as run:
        for _ in range(_UNTIL_NOTICED):
            run.under_load()
            if run.ledger.refused(503):
                break
        run.under_load(fault=cache.FAULTS["redis-evicting"])
        run.under_load(fault=mail.FAULTS["worker-killed"])

        assert run.conclude() == []
        assert run.ledger.refused(503) > 0


def test_faults_of_the_mail_server_are_not_noticed():
    with running(mail.FAULTS["mail-refusing"]) as run:
        run.under_load()
        run.under_load(fault=mail.FAULTS["mail-greylisting"])

        assert run.conclude() == []
