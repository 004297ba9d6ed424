"""`manage.py authservice_sweep`: an alias of `authservice_cleanup`."""

from __future__ import annotations

from authservice.core.management.commands import authservice_cleanup


class Command(authservice_cleanup.Command):
    """The same command under its former name, for existing crontabs."""

    help = "Another name of `authservice_cleanup`, for existing crontabs."
