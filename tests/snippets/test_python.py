"""Every block of Python in the README and in the docs is executed."""

import json
import shutil
import subprocess
import sys

import certifi
import pytest
from django.core.management import call_command

from authservice.core.credentials import password_filter
from tests.hosts.runs import ROOT
from tests.snippets.blocks import everything
from tests.snippets.registry import BLOCKS, FILES, GIVEN, NOT_EXECUTED, PAGES, THEN
from tests.snippets.test_safe_to_copy import WHOLE
from tests.support.key_pairs import pair, private_pem

pytestmark = pytest.mark.once
PYTHON = [block for block in everything() if block.language == "python"]


def entry(table, block):
    """The value of the only key of the table that names the block."""
    found = [key for key in table if key[0] == block.page and key[1] in block.code]
    assert len(found) <= 1, (block.place, found)
    return table[found[0]] if found else ""


def own():
    """The blocks that no other test executes."""
    for block in PYTHON:
        if block.page not in PAGES and not entry(BLOCKS, block) and not entry(NOT_EXECUTED, block):
            around = {"given": entry(GIVEN, block), "then": entry(THEN, block)}
            yield {"place": block.place, "code": block.code, **around}


@pytest.fixture(scope="module")
def failures(tmp_path_factory):
    files = tmp_path_factory.mktemp("files")
    call_command("authservice_keys", "generate", "--file", str(files / "keys.json"), verbosity=0)
    shutil.copyfile(certifi.where(), files / "authority.pem")
    (files / "oidc.pem").write_text(private_pem(pair("RS256")[0]))
    password_filter.write(str(files / "common.filter"), ["password"], capacity=1)
    blocks = json.dumps(list(own()))
    for path, name in FILES.items():
        blocks = blocks.replace(path, str(files / name))
    ran = subprocess.run(
        [sys.executable, "-m", "tests.snippets.project"],
        cwd=ROOT,
        input=blocks,
        capture_output=True,
        text=True,
        check=True,
    )
    return dict(map(json.loads, ran.stdout.splitlines()))


@pytest.mark.slow
@pytest.mark.xdist_group("snippets")  # all run in one project, which one worker starts
@pytest.mark.parametrize("place", [one["place"] for one in own()])
def test_block_runs_in_a_project(failures, place):
    assert place not in failures, failures[place]


@pytest.mark.parametrize("table", [BLOCKS, GIVEN, THEN, NOT_EXECUTED])
def test_entry_names_exactly_one_block(table):
    for page, text in table:
        assert sum(page == one.page and text in one.code for one in everything()) == 1, (page, text)


@pytest.mark.parametrize(
    ("page", "test"), [*PAGES.items(), *((page, test) for (page, _), test in BLOCKS.items())]
)
def test_test_that_executes_a_page_exists(page, test):
    assert (ROOT / page).exists()
    assert (ROOT / test).exists()


def test_only_pages_that_begin_a_project_assign_the_whole_dict():
    """Such a line on another page would drop the settings that a reader has already."""
    pages = {one.page for one in PYTHON if "\nAUTHSERVICE = " in f"\n{one.code}"}

    assert pages == set(WHOLE)


def test_few_blocks_are_not_executed():
    assert len(NOT_EXECUTED) <= 15
