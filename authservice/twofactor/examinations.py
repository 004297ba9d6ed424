"""What `authservice_doctor` examines of second factors: whether their secrets can be read."""

from __future__ import annotations

from collections.abc import Iterator

from authservice.kernel.checks import BROKEN, OK, Finding, Visit
from authservice.twofactor import authenticators
from authservice.twofactor.models import Authenticator

_READ = 10  # of the oldest rows, and as many of the newest


def examine_secrets(visit: Visit) -> Iterator[Finding]:
    """Whether the secrets of authenticator apps can be decrypted with the keys of the settings."""
    if not visit.has_tables:
        return
    rows = Authenticator.objects.exclude(sealed_secret="")
    with visit.reading():
        sample = {
            row.pk: row for row in (*rows.order_by("pk")[:_READ], *rows.order_by("-pk")[:_READ])
        }
    unreadable = [row for row in sample.values() if not authenticators.is_readable(row)]
    if not sample:
        return
    if not unreadable:
        text = f"Secrets of second factors can be read (examined: {len(sample)})."
        yield Finding(area="keys", state=OK, text=text)
        return
    yield Finding(
        area="keys",
        state=BROKEN,
        text=f"{len(unreadable)} of {len(sample)} examined secrets of second factors cannot be"
        " decrypted: SECRET_KEY was changed, and the former key is not in SECRET_KEY_FALLBACKS."
        " Their users can log in with backup codes only.",
        settings="SECRET_KEY_FALLBACKS",
        remedy="Add the former SECRET_KEY, such as from a backup or another machine, unless an"
        " attacker knows it, and restart every process. If it is lost, run `manage.py"
        " authservice_disable_2fa USER` for each user who asks. (docs: running/keys)",
    )
