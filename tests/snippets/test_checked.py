"""Every block in another language than Python is read by the program that it is for."""

import configparser
import io
import json
import shlex
import subprocess

import pytest
from babel.messages.pofile import read_po
from django.template import Engine

from tests.hosts.runs import python
from tests.snippets.blocks import everything
from tests.support import needs

pytestmark = pytest.mark.once
# `text` is what programs print. Of `sql` and `html` there is one block each, which tests of
# row-level security and of the tutorial execute. The tests of the clients compile TypeScript.
ELSEWHERE = ("python", "sql", "html", "text", "typescript", "ts", "tsx")
CHECKED = [block for block in everything() if block.language not in ELSEWHERE]
PROGRAMS = {"sh": "bash", "javascript": "node"}
LIBRARIES = {"i18n": "django.templatetags.i18n", "static": "django.templatetags.static"}
SUITE = "tests.settings"
# Reads the command lines of this process, and parses each with the options of its command.
PARSE = """
import json, sys
import django
from django.core.management import get_commands, load_command_class
django.setup()
for name, *given in json.loads(sys.argv[1]):
    command = load_command_class(get_commands()[name], name)
    command.create_parser("manage.py", name).parse_args(given)
"""


def shell(code, folder):
    passes(PROGRAMS["sh"], "-n", code=code)


def javascript(code, folder):
    module = folder / "block.mjs"
    module.write_text(code)
    passes(PROGRAMS["javascript"], "--check", str(module))


def passes(*command, code=""):
    read = subprocess.run(command, input=code, capture_output=True, text=True, check=False)
    assert read.returncode == 0, read.stderr


def po(code, folder):
    assert read_po(io.StringIO(code), abort_invalid=True)


READERS = {
    "sh": shell,
    "javascript": javascript,
    "json": lambda code, folder: json.loads(code),
    "ini": lambda code, folder: configparser.ConfigParser(strict=False).read_string(code),
    "po": po,
    "html+django": lambda code, folder: Engine(libraries=LIBRARIES).from_string(code),
}


def case(block):
    program = PROGRAMS.get(block.language)
    marks = needs.program(program) if program else ()
    return pytest.param(block, id=f"{block.language}-{block.place}", marks=marks)


@pytest.mark.parametrize("block", [case(block) for block in CHECKED])
def test_block_can_be_read(block, tmp_path):
    READERS[block.language](block.code, tmp_path)


def test_management_commands_take_their_documented_arguments():
    lines = [
        shlex.split(line.partition("manage.py ")[2], comments=True)
        for block in CHECKED
        if block.language == "sh"
        for line in block.code.replace("\\\n", "").splitlines()
        if "manage.py authservice_" in line
    ]

    ran = python("-c", PARSE, json.dumps(lines), host="everything", DJANGO_SETTINGS_MODULE=SUITE)

    assert len(lines) > 10
    assert ran.returncode == 0, ran.stdout
