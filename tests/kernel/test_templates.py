"""Our templates in projects whose engine shows invalid variables."""

from pathlib import Path

import pytest
from django.template import Context, engines

import authservice
from authservice.kernel import templates

ROOT = Path(authservice.__file__).parent
# Pages of Django admin extend its templates, which the option breaks too (Django's docs say so).
OF_DJANGO_ADMIN = ("admin/", "authservice/core/admin-")
ALL = sorted(
    str(path.relative_to(folder))
    for folder in ROOT.glob("*/templates")
    for path in folder.rglob("*")
    if path.suffix in (".html", ".txt")
)
OURS = [path for path in ALL if not path.startswith(OF_DJANGO_ADMIN)]


@pytest.fixture(autouse=True)
def _aid(settings):
    """The aid of a project, and all templates."""
    engine = {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [str(folder) for folder in ROOT.glob("*/templates")],
        "OPTIONS": {"string_if_invalid": "BUG(%s)"},
    }
    settings.TEMPLATES = [engine]


def test_engine_of_the_project_shows_invalid_variables():
    template = engines["django"].from_string("{{ nothing }}")

    assert template.render({}) == "BUG(nothing)"
    assert len(OURS) > 60


@pytest.mark.parametrize("path", OURS)
def test_template_shows_no_trace_of_a_variable_that_it_lacks(path):
    assert "BUG" not in templates.render(path, {})


def test_project_keeps_its_option_after_our_templates():
    templates.render(OURS[0], {})

    engine = engines["django"].engine
    assert engine.string_if_invalid == "BUG(%s)"
    assert engine.from_string("{{ nothing }}").render(Context()) == "BUG(nothing)"
