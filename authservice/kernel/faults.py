"""The base class of all API errors, and a function that lists them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from authservice.kernel.phrases import translated


class Fault(Exception):
    """An API error: its HTTP `status`, its public `code` and a human-readable `message`.

    The message is in English, for logs and the API description; a response has the `text`. The text
    of a class is a plain string, and a message of its own is a `phrase`, so that it is translated.
    `cause` says when it occurs and `remedy` what the client should do; the reference in the docs
    shows both.
    """

    status = 400
    code = ""
    message = ""
    cause = ""
    remedy = ""
    headers: Mapping[str, str] = {}

    def __init__(
        self,
        message: str | None = None,
        *,
        details: Mapping[str, Sequence[str]] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        self.message = message or type(self).message
        self.details = details
        self.headers = {**type(self).headers, **(headers or {})}
        super().__init__(self.message)

    @property
    def text(self) -> str:
        """The message in the active language."""
        return translated(self.message)

    @property
    def texts(self) -> dict[str, list[str]]:
        """The details in the active language."""
        details = self.details or {}
        return {name: [translated(rule) for rule in rules] for name, rules in details.items()}


def catalogue() -> Iterator[type[Fault]]:
    """Every concrete fault, sorted by code: the docs page and the contract tests read this."""
    # A subclass without its own code looks the same to clients as its parent.
    faults = {fault for fault in _subclasses(Fault) if vars(fault).get("code")}
    return iter(sorted(faults, key=lambda fault: (fault.code, fault.status)))


def _subclasses(parent: type[Fault]) -> Iterator[type[Fault]]:
    for child in parent.__subclasses__():
        yield child
        yield from _subclasses(child)
