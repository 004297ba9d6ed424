"""What the README says of itself and of others: its length, its figures, its table, its links."""

import re
from functools import cache

import pytest
from docutils.core import publish_doctree
from docutils.nodes import image, reference

from tests.abuse.regressions import COVERED
from tests.benchmarks import race
from tests.hosts.runs import ROOT
from tests.snippets.blocks import of_page

README = (ROOT / "README.rst").read_text()
ANSWERS = {"yes", "recipe", "no"}
COMPARISON = (ROOT / "docs/comparison.rst").read_text()
MEASURED = (ROOT / "docs/benchmarks/rows.txt").read_text()
WINNERS = re.search(
    r"Of (\w+) parallel requests with one refresh token one succeeded on our side in each of ten "
    r"rounds, and mostly (\w+) on the\s+baseline",
    (ROOT / "docs/benchmarks.rst").read_text().replace("\n", " "),
)
FEATURES = 24


@cache
def parsed(path):
    """The page as a code host reads it: with docutils alone, where any warning is an error."""
    halting = {"report_level": 2, "halt_level": 2}
    # Code hosts do not read other files into a page.
    halting |= {"raw_enabled": False, "file_insertion_enabled": False}
    return publish_doctree(path.read_text(), source_path=str(path), settings_overrides=halting)


def table(text):
    """The lines of the only simple table of a page, as lists of cells."""
    [found] = re.findall(r"^(=+ [ =]+)\n(.+\n)\1\n((?:.+\n)+?)\1$", text, re.MULTILINE)
    return [re.split(r"  +", line) for line in (found[1] + found[2]).splitlines()]


def linked():
    """Each page of the docs that the README links to, by its path."""
    targets = {
        node["refuri"].partition("#")[0]
        for node in parsed(ROOT / "README.rst").findall(reference)
        if "refuri" in node
    }
    return sorted(target for target in targets if target.endswith(".rst"))


def times_as_many(route):
    """How many requests a second the plain rows have, divided by those of dj-rest-auth."""
    part = MEASURED.partition(f"   * - {route}\n")[2].partition(".. list-table::")[0]
    cells = re.search(r"   \* - core and stateless\n((?:     - .+\n)+)", part)[1].splitlines()
    return f"{float(cells[2].split()[1]):.1f}"


def lines_of(code):
    """How many lines a reader adds."""
    return sum(1 for line in code.splitlines() if line.strip() and line.strip()[0] != "#")


def test_readme_has_at_most_a_hundred_lines_and_one_picture():
    assert len(README.splitlines()) <= 100
    [picture] = parsed(ROOT / "README.rst").findall(image)
    assert (ROOT / picture["uri"]).is_file()


def test_table_has_an_answer_for_each_feature_and_package():
    [head, *rows] = table(README)

    assert head == ["Feature", "authservice", "dj-rest-auth", "allauth", "better-auth", "Clerk"]
    assert len(rows) == FEATURES
    assert {len(row) for row in rows} == {len(head)}
    assert {cell for row in rows for cell in row[1:]} == ANSWERS


def test_page_with_the_sources_has_the_same_table():
    assert table(COMPARISON) == table(README)


def test_feature_that_is_missing_here_has_an_answer():
    missing = [row[0] for row in table(README)[1:] if row[1] == "no"]
    page = (ROOT / "docs/not_included.rst").read_text()

    assert missing
    assert [feature for feature in missing if feature not in page] == []


def test_feature_of_another_package_has_a_source():
    [head, *rows] = table(README)
    sources = COMPARISON.partition("\nNotes and sources\n")[2].partition("\nFurther ones\n")[0]
    given = {
        match[1].split(" (")[0]: set(re.findall(r"`([\w-]+)\s+<https://", match[2]))
        for match in re.finditer(r"^   \* - (.+)\n     - ((?:.|\n)*?)\n     -", sources, re.M)
    }

    # The first line says in whose process a package runs.
    for feature, _, *answers in rows[1:]:
        said = {name for name, answer in zip(head[2:], answers, strict=True) if answer == "yes"}
        assert said <= given.get(feature.split(" (")[0], set()), feature


@pytest.mark.parametrize(
    ("said", "is_"),
    [
        (
            "(\\d+) lines, nobody signs in again",
            lines_of(of_page("docs/coming_from/dj_rest_auth.rst")[0].code),
        ),
        ("(\\d+) lines in a new project", lines_of(of_page("README.rst")[1].code)),
        ("(\\d+) mistakes of similar packages", len(COVERED)),
        (r"([\d.]+) times as many logins", times_as_many("POST ``/login``")),
        (r"([\d.]+) times as many refreshes", times_as_many("POST ``/refresh``")),
        (r"of (\d+) parallel requests 1 succeeds", race.TRIES),
    ],
)
def test_figure_is_that_of_the_files(said, is_):
    assert re.findall(said, README) == [str(is_)]


def test_race_of_simplejwt_is_that_of_the_benchmarks():
    words = {"two": 2, "eight": 8}

    assert words[WINNERS[1]] == race.TRIES
    assert f"with simplejwt mostly {words[WINNERS[2]]}:" in README


@pytest.mark.parametrize("name", ["security", "contributing"])
def test_page_has_the_number_of_mistakes_of_the_readme(name):
    page = (ROOT / f"docs/{name}.rst").read_text()

    assert re.findall(r"(\w+) mistakes of (?:similar )?packages", page) == [str(len(COVERED))]


def test_reasons_name_commands_that_exist():
    reasons = re.findall(r"^\* .+$", README, re.MULTILINE)

    assert len(reasons) == 5
    for reason in reasons:
        command = re.search(r"``(.+)``$", reason)[1]
        [path] = re.findall(r"[\w/.]*test\w*[/.][\w/.]+", command)
        assert (ROOT / path).exists() or (ROOT / path.replace(".", "/")).is_dir(), reason


@pytest.mark.parametrize("path", linked())
def test_linked_page_is_whole_on_a_code_host(path):
    """Such a host knows no role and no directive of Sphinx: each of them would be a warning."""
    assert parsed(ROOT / path).children


def test_readme_links_to_the_pages_that_most_people_need():
    assert len(linked()) > 12
