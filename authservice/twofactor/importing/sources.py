"""The sources of this module. The models of the packages are found in Django's registry, so that no
package needs to be installed."""

from __future__ import annotations

from collections.abc import Mapping

from authservice.kernel.imports import ImportSource
from authservice.twofactor.importing.allauth import AllauthFactors
from authservice.twofactor.importing.dj_rest_auth import DjRestAuthFactors
from authservice.twofactor.importing.django_otp import DjangoOtpFactors
from authservice.twofactor.importing.factors import FactorImport


def import_sources() -> Mapping[str, ImportSource]:
    """Fills the slot `import_sources`."""
    return {
        "allauth": FactorImport(AllauthFactors()),
        "dj_rest_auth": FactorImport(DjRestAuthFactors()),
        "django_otp": FactorImport(DjangoOtpFactors()),
        # It stores apps and backup codes in the tables of django-otp.
        "two_factor": FactorImport(DjangoOtpFactors()),
    }
