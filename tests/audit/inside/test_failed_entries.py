"""An action whose entry cannot be written is rolled back, and no signal or message is sent."""

from itertools import count

import pytest
from django.apps import apps

from authservice.audit import writer
from authservice.audit.models import Entry
from authservice.core.models import AttemptCounter
from authservice.kernel import modules
from authservice.kernel.events import Event
from authservice.kernel.uuid7 import uuid7_of
from tests.audit.inside.test_deeds import DEEDS


def rows():
    """Everything the service and the host keep, but for counters and the log itself."""
    labels = [config.label for config in modules.installed()]
    models = [m for m in apps.get_models() if m._meta.app_label in (*labels, "auth")]
    return {
        model.__name__: [
            # The count of an attempt must be kept when the request fails.
            {name: value for name, value in row.items() if name != "attempts"}
            for row in model._base_manager.order_by("pk").values()
        ]
        for model in models
        if model not in (AttemptCounter, Entry)
    }


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    "deed", [deed for deed in DEEDS if deed.log and not deed.delivered], ids=str
)
def test_a_deed_whose_entry_cannot_be_written_is_not_done(world, deed, monkeypatch):
    act = deed.prepare(world)
    world.forget()
    world.api.raising = False
    before = rows()
    (taken,) = entries_of_before()
    number = count(1)

    def of(moment):
        # The last entry gets a key that is taken, however often it is tried: the database refuses.
        return taken.pk if next(number) >= len(deed.log) else uuid7_of(moment)

    with monkeypatch.context() as patched:
        patched.setattr(writer, "uuid7_of", of)
        answer = act()

    assert answer.error == (500, "INTERNAL_ERROR")
    assert rows() == before
    assert world.entries() == [taken]
    assert world.post.jobs == []


def entries_of_before():
    """A log with one entry."""
    writer.write(Event(action="auth.signup"))
    return Entry.objects.all()
