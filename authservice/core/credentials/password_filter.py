"""A list of common passwords as one small file: a Bloom filter that all processes share.

The operator builds it from a list of their own with `manage.py authservice_password_filter`. Each
process maps it into memory, so the pages of the file are in memory once however many workers there
are. Every password of the list is found; of other passwords one in a thousand is found too.

A file is replaced by renaming another one to its name, never overwritten: a process that reads a
page beyond the new end of a file that it has mapped is killed by the operating system (SIGBUS).
Workers notice the new file at the next look-up.
"""

from __future__ import annotations

import hashlib
import mmap
import os
import struct
import tempfile
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from math import ceil
from threading import Lock

# 15.9 bits and 7 hashes for each password: 0.07 % of other passwords are found. With 10 hashes 15.1
# bits would do, but a look-up would take longer.
_TENTHS_OF_BITS = 159
_HASHES = 7
_MAGIC = b"ASVCPWF1"
# `_MAGIC`, the number of bits and of passwords, and a checksum of the bits.
_HEADER = struct.Struct("<8sQQ16s")
_PLACES = struct.Struct(f"<{_HASHES}Q")


class InvalidFilter(Exception):
    """The file is no filter, or cannot be read. The text names it and the reason."""


@dataclass(frozen=True)
class PasswordFilter:
    """An open filter. `bits` is the whole file, mapped into memory: the header, then `size` bits.
    `passwords` is how many were added."""

    path: str
    size: int
    passwords: int
    checksum: bytes
    bits: mmap.mmap

    def __contains__(self, password: str) -> bool:
        bits, size, start = self.bits, self.size, _HEADER.size
        for place in _places(password):
            place %= size
            if not bits[start + (place >> 3)] >> (place & 7) & 1:
                return False
        return True

    def verify(self) -> None:
        """Read the whole file. Raises `InvalidFilter` if a part of it was changed."""
        if _checksum(memoryview(self.bits)[_HEADER.size :]) != self.checksum:
            raise InvalidFilter(f"{self.path} is damaged: its checksum is wrong.")


# By path: what `os.stat` said of the file, and the file as it was mapped.
_opened: dict[str, tuple[tuple[int, ...], PasswordFilter]] = {}
_lock = Lock()


def current(path: str) -> PasswordFilter:
    """The filter at `path`, mapped again if the file was replaced. Raises `InvalidFilter`."""
    try:
        status = os.stat(path)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InvalidFilter(f"{path} cannot be read: {reason}.") from None
    version = (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)
    with _lock:
        cached = _opened.get(path)
    if cached and cached[0] == version:
        return cached[1]

    try:
        with open(path, "rb") as file:
            mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except ValueError:
        raise InvalidFilter(f"{path} is empty.") from None
    except OSError as error:
        raise InvalidFilter(f"{path} cannot be read: {error.strerror}.") from None
    if len(mapped) < _HEADER.size or mapped[: len(_MAGIC)] != _MAGIC:
        raise InvalidFilter(f"{path} is no password filter.")
    _, size, passwords, checksum = _HEADER.unpack_from(mapped)
    if not size or len(mapped) != _HEADER.size + ceil(size / 8):
        raise InvalidFilter(f"{path} is damaged: its length is wrong.")
    opened = PasswordFilter(path, size, passwords, checksum, mapped)
    with _lock:
        _opened[path] = version, opened
    return opened


def write(path: str, passwords: Iterable[str], *, capacity: int) -> int:
    """Write a filter to `path`; returns how many passwords were added. A file that exists there is
    replaced in one step. `capacity` is the most passwords there may be: a filter of more would find
    other passwords too often.

    Raises `OSError`, and `ValueError` without a password.
    """
    size = max(capacity, 1) * _TENTHS_OF_BITS // 10
    bits = bytearray(ceil(size / 8))
    added = 0
    for password in passwords:
        for place in _places(password):
            place %= size
            bits[place >> 3] |= 1 << (place & 7)
        added += 1
    if not added:
        raise ValueError("The list has no passwords.")
    header = _HEADER.pack(_MAGIC, size, added, _checksum(bits))
    # In the same directory, since a file is renamed within one file system only.
    handle, temporary = tempfile.mkstemp(dir=os.path.dirname(path) or ".", prefix=".filter-")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(header)
            file.write(bits)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, 0o644)  # the list is no secret, and workers may be another user
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise
    return added


def lines(path: str) -> Iterator[str]:
    """The passwords of a list, one a line. A line that is not UTF-8 is read as Latin-1, as many
    published lists are in no one encoding. Raises `OSError`."""
    with open(path, "rb") as file:
        for line in file:
            text = line.rstrip(b"\r\n")
            if not text:
                continue
            try:
                yield text.decode()
            except UnicodeDecodeError:
                yield text.decode("latin-1")


def _places(password: str) -> tuple[int, ...]:
    """The bits of a password, which callers take modulo the number of bits of the filter. Case and
    spaces around it do not count, as in Django's list."""
    text = unicodedata.normalize("NFC", password.strip().lower())
    encoded = text.encode("utf-8", "surrogatepass")
    return _PLACES.unpack(hashlib.blake2b(encoded, digest_size=_PLACES.size).digest())


def _checksum(bits: bytearray | memoryview) -> bytes:
    return hashlib.blake2b(bits, digest_size=16).digest()
