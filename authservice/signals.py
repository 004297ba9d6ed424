"""Signals for host projects, one per public event.

They are sent after commit. An exception of a receiver is logged and affects neither the request nor
other receivers. Every signal has the arguments `event`, an `authservice.kernel.events.Event`, and
`user`, the host project's user (None for a failed login with an unknown identifier).
"""

from django.dispatch import Signal

signed_up = Signal()
signed_in = Signal()
sign_in_failed = Signal()
signed_out = Signal()
tokens_refreshed = Signal()
token_reuse_detected = Signal()
account_throttled = Signal()
