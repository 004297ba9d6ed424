"""A test that installs an app leaves none of its receivers connected once the app is gone.

An app connects receivers when it gets ready, and Django disconnects none when a test ends. Those of
an app with tables would query tables that do not exist in the tests that the worker runs later.
"""

from contextlib import contextmanager
from inspect import unwrap
from weakref import ReferenceType

from django.apps import apps
from django.contrib.auth.signals import user_logged_in
from django.core.signals import request_finished, setting_changed
from django.db.models.signals import post_delete, post_save, pre_delete, pre_save

from authservice.kernel import measures
from authservice.signals import tokens_refreshed

SIGNALS = (
    *(pre_save, post_save, pre_delete, post_delete, user_logged_in, request_finished),
    *(tokens_refreshed, measures.messages, measures.hash_waits, measures.outbound_calls),
)


@contextmanager
def receivers_of_installed_apps():
    """Within this context, the receivers of an app are disconnected when a test uninstalls it."""
    seen = set()

    def changed(*, setting, enter, **_):
        if setting != "INSTALLED_APPS":
            return
        present = {config.name for config in apps.get_app_configs()}
        if not enter:
            _disconnect(seen - present)
        seen.update(present)

    setting_changed.connect(changed)
    try:
        yield
    finally:
        setting_changed.disconnect(changed)


def _disconnect(absent):
    for signal in SIGNALS:
        # In Django the first two of each entry are a key and the receiver or a reference to it.
        kept = [entry for entry in signal.receivers if not _belongs(entry[1], absent)]
        if len(kept) < len(signal.receivers):
            signal.receivers[:] = kept
            signal.sender_receivers_cache.clear()


def _belongs(receiver, absent):
    function = receiver() if isinstance(receiver, ReferenceType) else receiver
    module = getattr(unwrap(function), "__module__", "") if function else ""
    return any(module == name or module.startswith(f"{name}.") for name in absent)
