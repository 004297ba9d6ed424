"""A project replaces any template of the pages by one of its own at the same path."""

import re

import pytest

from authservice.pages import preview
from tests.hosts.runs import ROOT
from tests.pages.inside.person import Person
from tests.support.client import PASSWORD
from tests.support.flows import ANN
from tests.support.mounted import mounted

pytestmark = pytest.mark.django_db

PATH = "authservice/pages"
ENGINE = "django.template.backends.django.DjangoTemplates"
# Where a template has a place of its own in the page that it makes.
BEGIN = re.compile(r"{% block (?:content|main|frame) %}|<body>")
BLOCK = re.compile(r"{% block (\w+) %}")
ADDITIONS = """{% extends "authservice/pages/base.html" %}
{% block style %}{{ block.super }}.added{}
{% endblock %}
{% block body %}<p>Above</p>{{ block.super }}<p>Below</p>{% endblock %}
"""
LOGIN = """{% extends "authservice/pages/base.html" %}
{% block content %}
<p>Welcome to the shop.</p>
{% include "authservice/pages/alert.html" %}
<form method="post" action="{{ action }}">
{% include "authservice/pages/fields.html" %}
<button>Enter the shop</button>
</form>
{% endblock %}
"""


@pytest.fixture(autouse=True, scope="module")
def _pages():
    """Once: templates are found in the same way with the csrf module."""
    with mounted():
        yield


@pytest.fixture(params=[True, False], ids=["of apps too", "of the project alone"])
def folder(request, settings, tmp_path):
    """The folder of the templates of a project, whose engine may load those of apps too."""
    settings.TEMPLATES = [
        {"BACKEND": ENGINE, "DIRS": [tmp_path], "APP_DIRS": request.param},
    ]
    folder = tmp_path / PATH
    folder.mkdir(parents=True)
    return folder


def marked(name, text):
    """The template of the project: the same, with its name in it."""
    if name.endswith(".css"):
        return f"/* of the project: {name} */ {text}"
    if name.endswith(".js"):
        return f"// of the project: {name}\n{text}"
    mark = f"<!-- of the project: {name} -->"
    return (
        BEGIN.sub(lambda found: found[0] + mark, text, count=1)
        if BEGIN.search(text)
        else mark + text
    )


def test_every_template_may_be_replaced(folder, settings):
    files = [*ROOT.glob(f"authservice/*/templates/{PATH}/*")]
    for file in files:
        (folder / file.name).write_text(marked(file.name, file.read_text()))
    settings.DEBUG = True
    person = Person()

    states = ["", *(f"?state={state}" for state in preview.shown())]
    shown = "".join(person.open(f"/auth/pages-preview{state}").html for state in states)

    assert len(files) >= 35
    assert [file.name for file in files if f"of the project: {file.name}" not in shown] == []


def test_additions_to_the_frame_reach_every_page(folder, settings):
    """Behind our own styles, so that those of the project win."""
    (folder / "base.html").write_text(ADDITIONS)
    settings.DEBUG = True
    person = Person()

    wrong = []
    for state in preview.shown():
        html = person.open(f"/auth/pages-preview?state={state}").html
        body = html.partition("<body>")[2]
        added = body.lstrip().startswith("<p>Above</p>") and body.count("<p>Below</p>") == 1
        if not added or html.count("<main") != 1 or ".added{}\n</style>" not in html:
            wrong.append(state)

    assert wrong == []


def test_documentation_lists_the_blocks_of_the_frames():
    frames = [*ROOT.glob(f"authservice/*/templates/{PATH}/*base.html")]
    blocks = {name for file in frames for name in BLOCK.findall(file.read_text())}
    section = (ROOT / "docs/pages.rst").read_text().partition("To change more, replace")[2]
    table = section.partition("A section of your own")[0].partition("* - Block")[2]

    assert len(frames) == 2
    assert {*re.findall(r"\* - ``(\w+)``", table)} == blocks


def test_person_signs_in_on_the_page_of_the_project(folder, person, ann):
    (folder / "login.html").write_text(LOGIN)
    page = person.open("/auth/login")
    assert "Welcome to the shop." in page.text

    page = person.send(page, identifier=ANN, password="wrong")
    assert "Welcome to the shop." in page.text
    assert page.alert == "Wrong e-mail, username or password."
    person.send(page, identifier=ANN, password=PASSWORD)

    assert person.name == "ann"


def test_template_of_the_project_may_extend_the_one_that_it_replaces(folder, person, configure):
    configure(PAGES={"NAME": "Plum"})
    (folder / "login.html").write_text(
        '{% extends "authservice/pages/login.html" %}'
        "{% block heading %}{{ block.super }}, welcome{% endblock %}"
    )

    page = person.open("/auth/login")

    assert page.heading == "Sign in to Plum, welcome"
    assert "Keep me signed in" in page.text
