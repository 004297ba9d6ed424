"""Signing keys in a JSON file that `manage.py authservice_keys` maintains.

    AUTHSERVICE["SIGNING_KEYS"] = load("/etc/app/keys.json")

Settings modules import this file, so it must not use settings or models.
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

_GROUP_AND_OTHERS = 0o077


def load(path: str | Path) -> list[Entry]:
    """The entries of the file, for `SIGNING_KEYS`. Raises `ImproperlyConfigured`."""
    try:
        entries = json.loads(Path(path).read_bytes())
    except OSError as error:
        raise ImproperlyConfigured(f"The key file cannot be read: {error}") from None
    except ValueError:
        # Without the cause: it contains the text of the file with the private keys, and an error
        # report would show it.
        raise ImproperlyConfigured(f"The key file {path} is not JSON.") from None
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise ImproperlyConfigured(f"The key file {path} is not a list of keys.")
    return entries


@contextmanager
def editing(path: str | Path) -> Iterator[list[Entry]]:
    """Yield the entries for changes in place and write them at the end, atomically.

    A new file is readable by its owner only (mode 0600); an existing file keeps its owner. Raises
    `OSError`, and `FileExistsError` if another process is editing the file.
    """
    path = Path(path).resolve()
    draft = path.with_name(f".{path.name}.new")
    # The draft is also the lock: only one process can create it, before it reads the file.
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
    """Whether group or others may access the file; False on systems without POSIX permissions."""
    return os.name == "posix" and bool(Path(path).stat().st_mode & _GROUP_AND_OTHERS)


def _keep_owner(descriptor: int, path: Path) -> None:
    # If root edits the file, the service must still be able to read it.
    if path.exists() and hasattr(os, "fchown"):
        owner = path.stat()
        os.fchown(descriptor, owner.st_uid, owner.st_gid)
