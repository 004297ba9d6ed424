"""Signals a host may connect to, one per public fact.

Each is sent after the deed has been committed, robustly: a receiver that raises is logged and
harms nobody. Every signal carries `event`, an `authservice.kernel.events.Event`, and `user`, the
host's user (or None where a refused sign-in named nobody).
"""

from django.dispatch import Signal

signed_up = Signal()
signed_in = Signal()
sign_in_failed = Signal()
signed_out = Signal()
tokens_refreshed = Signal()
token_reuse_detected = Signal()
account_throttled = Signal()
