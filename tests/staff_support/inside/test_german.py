"""The support page in German."""

import pytest
from django.utils import translation

from tests.staff_support.inside.conftest import button, lock_out, support_page
from tests.staff_support.inside.test_obstacles import blocking, notes

pytestmark = pytest.mark.django_db


def test_support_page_is_german(root, enrolled, api):
    lock_out(api)

    with translation.override("de"):
        shown, confirmation = root.see(support_page()), root.see(button("end-sessions"))

    assert blocking(shown) == ["Gesperrt bis 12:15 nach 10 falschen Passwörtern von 203.0.113.7."]
    assert any("einen von 10 Backup-Codes" in text for text in notes(shown))
    assert "Alle Sitzungen beenden" in confirmation


def test_empty_table_agrees_with_its_title(root, ann):
    with translation.override("de"):
        shown = root.see(support_page())

    parts = shown.split("<h2>")
    (factor,) = [part for part in parts if part.startswith("Zweiter Faktor<")]
    (passkeys,) = [part for part in parts if part.startswith("Passkeys<")]
    assert ("<p>Keiner.</p>" in factor, "<p>Keine.</p>" in passkeys) == (True, True)
