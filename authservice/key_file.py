"""Signing keys in a JSON file that `authservice_keys` looks after.

    AUTHSERVICE = {"SIGNING_KEYS": load("/etc/app/keys.json")}

Read by settings, so nothing here may ask for a setting or a model.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from django.core.exceptions import ImproperlyConfigured

Entry = dict[str, Any]

_OTHERS = 0o077


def load(path: str | Path) -> list[Entry]:
    """The entries of the file, for `SIGNING_KEYS`. Raises `ImproperlyConfigured`."""
    try:
        entries = json.loads(Path(path).read_bytes())
    except OSError as error:
        raise ImproperlyConfigured(f"The key file cannot be read: {error}") from None
    except ValueError:
        # The cause would carry the text of the file, private keys and all, into a report of it.
        raise ImproperlyConfigured(f"The key file {path} is not JSON.") from None
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise ImproperlyConfigured(f"The key file {path} is not a list of keys.")
    return entries


@contextmanager
def editing(path: str | Path) -> Iterator[list[Entry]]:
    """The entries to be changed in place, written at the end: all or nothing, one run at a time.

    A new file is its owner's alone (mode 0600), and a changed one still belongs to the same owner.
    Raises `OSError`; `FileExistsError` while another run is at work.
    """
    path = Path(path).resolve()
    draft = path.with_name(f".{path.name}.new")
    # Made before the file is read, and by one run only: the draft is the lock as well.
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with open(descriptor, "w") as file:
            entries = load(path) if path.exists() else []
            yield entries
            _keep_owner(descriptor, path)
            json.dump(entries, file, indent=2)
            file.flush()
            os.fsync(descriptor)
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)


def seen_by_others(path: str | Path) -> bool:
    """Whether the group or the world may read the file, where the system knows such a thing."""
    return os.name == "posix" and bool(Path(path).stat().st_mode & _OTHERS)


def _keep_owner(descriptor: int, path: Path) -> None:
    # An operator who is root must not take the file away from the service that reads it.
    if path.exists() and hasattr(os, "fchown"):
        owner = path.stat()
        os.fchown(descriptor, owner.st_uid, owner.st_gid)
