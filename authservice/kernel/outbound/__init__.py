"""The one client for requests that the service sends: to providers, for keys, to webhooks; and what
can go wrong with them.

An address in the settings, in a discovery document or behind a DNS name may lead into the private
network or to the metadata service of a cloud (SSRF). So every request goes through `http_client`,
which checks each address and connects to the very address that it checked.
"""


class OutboundError(Exception):
    """The request has no acceptable response."""


class Refused(OutboundError):
    """The request was not sent: the URL or an address of its host is not allowed."""


class Unreachable(OutboundError):
    """No connection, an invalid certificate, or a response that is not HTTP."""


class TimedOut(OutboundError):
    """The time of the whole request is over."""


class TooLarge(OutboundError):
    """The body of the response exceeds `OUTBOUND.MAX_BYTES`."""


class Busy(OutboundError):
    """`OUTBOUND.IN_FLIGHT` requests to the other service are running already."""


class NotJSON(OutboundError):
    """The body of the response is not JSON."""


class BadStatus(OutboundError):
    """The status is not 2xx, a redirect included; `code` is the status."""

    def __init__(self, code: int) -> None:
        super().__init__(f"The response has the status {code}.")
        self.code = code


class InsideTransaction(RuntimeError):
    """A request was about to be sent inside a database transaction, whose locks would be held for
    as long as the other service takes. An error of the calling code."""
