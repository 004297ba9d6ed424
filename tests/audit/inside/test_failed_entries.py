"""An action whose entry cannot be written is rolled back, and no signal or message is sent."""

from itertools import count

import pytest
from django.apps import apps

from authservice.audit import writer
from authservice.audit.models import Entry
from authservice.core.models import AttemptCounter
from authservice.kernel import clock, modules
from authservice.kernel.clock import uuid7_of
from authservice.kernel.events import Event
from tests.audit.inside.test_action_entries import CASES

# A provider is asked outside of every transaction, so the state or nonce is used up before that.
USED_UP_BEFORE = ("oauth-state", "oauth-nonce")
# The account of a user of a provider stays although its login is refused, and the entry of the
# refusal follows its transaction.
REFUSED_AFTER_SIGNUP = {"auth.signup", "auth.login.failed"}
# A wrong code in a step-up is recorded as such, and then as a refusal of the step-up. An unsafe
# password is recorded before the login that it does not prevent.
SEPARATE = ({"auth.2fa.failed", "auth.step_up.failed"}, {"auth.password.unsafe"})
# The proof of the owner is checked, used up and recorded before the transaction of the change.
PROVEN_BEFORE = {"PUT /change-username", "POST /change-email", "DELETE /me", "POST /me/delete"}


def rows():
    """All rows of authservice and the host, without attempt counters and the log itself."""
    labels = [config.label for config in modules.installed()]
    models = [m for m in apps.get_models() if m._meta.app_label in (*labels, "auth")]
    return {
        model.__name__: [
            # The count of an attempt must be kept when the request fails.
            {name: value for name, value in row.items() if name != "attempts"}
            for row in model._base_manager.order_by("pk").values()
            if row.get("purpose") not in USED_UP_BEFORE
        ]
        for model in models
        if model not in (AttemptCounter, Entry)
    }


def actions_of(case):
    return {line.split()[0] for line in case.log}


def written_at_once(case):
    """Whether the entries of a case are written in one transaction."""
    if case.route in PROVEN_BEFORE:
        return not any(action.startswith("auth.2fa.") for action in actions_of(case))
    return not any(actions_of(case) >= actions for actions in (REFUSED_AFTER_SIGNUP, *SEPARATE))


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    "case",
    [case for case in CASES if case.log and not case.delivered],
    ids=str,
)
def test_action_is_rolled_back_if_its_entry_cannot_be_written(world, case, monkeypatch):
    """The last of its entries; the first, if they are written in several transactions."""
    failing = len(case.log) if written_at_once(case) else 1
    act = case.prepare(world)
    world.forget()
    world.api.raising = False
    before = rows()
    (taken,) = existing_entries()
    number = count(1)

    def of(moment, *rest):
        # That entry gets a key that is taken, on every attempt, so the database refuses it.
        return taken.pk if next(number) >= failing else uuid7_of(moment, *rest)

    with monkeypatch.context() as patched:
        patched.setattr(clock, "uuid7_of", of)
        answer = act()

    assert answer.error == (500, "INTERNAL_ERROR")
    assert rows() == before
    assert world.entries() == [taken]
    assert world.post.jobs == []


def existing_entries():
    """Write one entry and return all of them."""
    writer.write(Event(action="auth.signup"))
    return Entry.objects.all()
