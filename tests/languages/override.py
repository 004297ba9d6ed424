"""A catalogue of the host project that overrides texts of the package."""

from contextlib import contextmanager
from datetime import UTC, datetime

from babel.messages.catalog import Catalog
from babel.messages.mofile import write_mo
from django.utils import translation
from django.utils.translation import trans_real

from authservice.kernel.languages import API


@contextmanager
def overriding(settings, folder, texts, language="de"):
    """The language is active, and has these translations of texts of the API."""
    catalogue = Catalog(locale=language, creation_date=datetime(2030, 1, 1, tzinfo=UTC))
    for text, translated in texts.items():
        catalogue.add(text, translated, context=API)
    place = folder / language / "LC_MESSAGES"
    place.mkdir(parents=True)
    with (place / "django.mo").open("wb") as file:
        write_mo(file, catalogue)
    settings.LOCALE_PATHS = [folder]
    trans_real._translations = {}
    with translation.override(language):
        yield
    settings.LOCALE_PATHS = []
    trans_real._translations = {}
