"""What every refusal is, and finding all there are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping


class Fault(Exception):
    """A refusal with its HTTP `status`, its public `code` and a `message` for people."""

    status = 400
    code = ""
    message = ""
    headers: Mapping[str, str] = {}

    def __init__(
        self,
        message: str | None = None,
        *,
        details: Mapping[str, list[str]] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        self.message = message or type(self).message
        self.details = details
        self.headers = {**type(self).headers, **(headers or {})}
        super().__init__(self.message)


def catalogue() -> Iterator[type[Fault]]:
    """Every concrete fault, sorted by code: the docs page and the contract tests read this."""
    # An heir without a code of its own says the same on the wire as its parent.
    faults = {fault for fault in _subclasses(Fault) if vars(fault).get("code")}
    return iter(sorted(faults, key=lambda fault: (fault.code, fault.status)))


def _subclasses(parent: type[Fault]) -> Iterator[type[Fault]]:
    for heir in parent.__subclasses__():
        yield heir
        yield from _subclasses(heir)
