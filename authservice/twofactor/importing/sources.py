"""The sources of `authservice_import` in this module. The models of the packages are found in
Django's registry, so that no package needs to be installed."""

from __future__ import annotations

from collections.abc import Iterator

from authservice.kernel.imports import ImportSource
from authservice.twofactor.importing.django_otp import DjangoOtpFactors
from authservice.twofactor.importing.factors import FactorImport
from authservice.twofactor.importing.mfa_table import AllauthFactors, DjRestAuthFactors


def import_sources() -> Iterator[tuple[str, ImportSource]]:
    """Each source with the name of its package; `kernel/imports.py` finds this function by name."""
    yield "allauth", FactorImport(AllauthFactors())
    yield "dj_rest_auth", FactorImport(DjRestAuthFactors())
    yield "django_otp", FactorImport(DjangoOtpFactors())
    # django-two-factor-auth stores apps and backup codes in the tables of django-otp.
    yield "two_factor", FactorImport(DjangoOtpFactors())
