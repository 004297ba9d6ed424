"""Every setting, error, command, action, slot, signal and limit has an entry and a description.

What there is comes from the source files, so it does not matter what the generator imports.
"""

import ast
import re
import textwrap
from inspect import get_annotations
from pathlib import Path

import pytest
from django.dispatch import Signal
from django.utils.module_loading import import_string

import authservice
from authservice import signals
from authservice.core.messages.limits import LIMITS
from authservice.kernel import errors
from authservice.kernel.modules import SLOTS, ModuleConfig, misfit, slots_filled
from authservice.kernel.throttling import RATES
from tests.hosts.runs import ROOT
from tests.reference import rst
from tests.reference.signals import described
from tests.reference.slots import base_of
from tests.support import declared, sources

NUMBERS = {12: "Twelve", 13: "Thirteen", 14: "Fourteen", 15: "Fifteen", 16: "Sixteen"}
ACTIONS = declared.actions()
TREE = Path(authservice.__file__).parent
FOLDER = TREE.parent / "docs/reference"
# Files that name actions without recording one.
NOT_RECORDING = (
    "actions.py",
    "apps.py",
    "categories.py",
    "conf.py",
)
# Their name is put together from the field that changes.
PUT_TOGETHER = {"admin.user.suspended", "admin.user.reactivated"}
# Modules that fill a slot with objects of core alone.
OF_CORE = {"views": {"stateless"}}


declared.import_errors()


def entry(page: str, anchor: str) -> str:
    """The text of the only entry with this anchor."""
    [_, text] = (FOLDER / f"{page}.rst").read_text().split(f"\n.. _{anchor}:\n")
    return text.partition("\n.. _")[0]


def nodes(kind, words=""):
    """Each node of this kind in the files of the package that contain these words, with its file.
    The words save time: each worker asks for the names of the tests, and parsing all takes long."""
    for path in sources.paths():
        if words in path.read_text():
            yield from (
                (path, node) for node in ast.walk(sources.parsed(path)) if isinstance(node, kind)
            )


def settings_in_sources():
    """Each (section, key) of the classes that files declare with `section("NAME", Schema)`."""
    for path, call in nodes(ast.Call, "section("):
        name = getattr(call.func, "attr", getattr(call.func, "id", ""))
        if name == "section" and ast.unparse(call.func) in ("section", "settings.section"):
            section, schema = call.args[0].value, call.args[1].id
            [found] = [
                node for node in sources.parsed(path).body if getattr(node, "name", "") == schema
            ]
            keys = (line.target.id for line in found.body if isinstance(line, ast.AnnAssign))
            yield from ((section, key) for key in keys)


def errors_in_sources():
    """Each code that a class in the package gives to an error."""
    for _, node in nodes(ast.ClassDef, 'code = "'):
        lines = (ast.unparse(line) for line in node.body if isinstance(line, ast.Assign))
        yield from (found[1] for line in lines if (found := re.fullmatch(r"code = '(\w+)'", line)))


def slots_in_tree():
    """Each slot with the packages whose `AppConfig` fills it, installed or not."""
    filled = {slot: set() for slot in ("views", "urls", *SLOTS)}
    for config in declared.configs():
        for slot in filled:
            if getattr(config, slot):
                filled[slot].add(config.name.removeprefix("authservice."))
    return filled


def recorded():
    """Each action that a file names, other than those that list actions."""
    return {
        node.value
        for path, node in nodes(ast.Constant)
        if path.name not in NOT_RECORDING and node.value in ACTIONS
    }


@pytest.mark.parametrize(("section", "key"), list(settings_in_sources()))
def test_setting_has_type_default_and_description(section, key):
    text = entry("settings", rst.anchor("setting", section, key))
    _, facts, description = text.strip().split("\n\n")

    assert re.search(r"^:Type: \S", facts, re.MULTILINE)
    assert re.search(r"^:Default: \S", facts, re.MULTILINE)
    assert description.endswith(".")


@pytest.mark.parametrize("code", sorted(set(errors_in_sources())))
def test_error_has_message_cause_and_remedy(code):
    text = entry("errors", rst.anchor("error", code))
    statuses = {fault.status for fault in errors.catalogue() if fault.code == code}

    assert set(map(int, re.findall(r":Status: (\d+)", text))) == statuses != set()
    for name in ("Message", "When", "What to do"):
        assert len(re.findall(rf"^:{name}: \S", text, re.MULTILINE)) == len(statuses), name


@pytest.mark.parametrize("name", sorted(name for _, name, _ in declared.checks()))
def test_check_has_level_cause_and_remedy(name):
    text = entry("checks", rst.anchor("check", name[-4:]))

    for field in ("Level", "Cause", "What to do"):
        assert re.search(rf"^:{field}: \S", text, re.MULTILINE), field


@pytest.mark.parametrize("name", ACTIONS)
def test_action_has_severity_topic_and_occasion(name):
    text = entry("actions", rst.anchor("action", name))

    for field in ("Text", "Severity", "Actor", "Topic", "Recorded when"):
        assert re.search(rf"^:{field}: \S", text, re.MULTILINE), field
    assert ACTIONS[name].when.endswith(".")


def test_actions_marked_as_reserved_are_those_that_nothing_records():
    reserved = {name for name, action in ACTIONS.items() if action.when.startswith("Reserved")}

    assert reserved == set(ACTIONS) - recorded() - PUT_TOGETHER


def test_slots_are_the_attributes_of_a_module():
    lists = {"actions", "awaited_messages", "examinations"}

    assert set(get_annotations(ModuleConfig)) == {"views", "urls", *lists, *SLOTS}


@pytest.mark.parametrize("slot", ["views", "urls", *SLOTS])
def test_slot_has_signature_occasion_and_the_modules_that_fill_it(slot):
    text = entry("slots", rst.anchor("slot", slot))
    filled = text.partition(":Filled by:")[2].partition("\n\n")[0]

    assert re.search(r"^:Signature: \S", text, re.MULTILINE)
    assert re.search(r"^:Called: \S", text, re.MULTILINE)
    packages = set(re.findall(r"``authservice\.(\w+(?:\.simplejwt)?)\.", filled))
    assert packages == slots_in_tree()[slot] - OF_CORE.get(slot, set())


def test_fillers_of_installed_modules_fit_their_slots():
    fillers = [(slot, import_string(path)) for _, slot, path in slots_filled()]

    assert fillers
    assert [reason for slot, filler in fillers if (reason := misfit(slot, filler))] == []


def test_changelog_has_the_number_of_slots():
    changelog = (ROOT / "docs/changelog.rst").read_text()

    assert f"- {NUMBERS[len(SLOTS)]} slots for apps of a project" in changelog


@pytest.mark.parametrize("slot", SLOTS)
def test_slot_has_a_documented_base_class(slot):
    assert base_of(slot).__doc__.startswith(f"Slot `{slot}`: ")


@pytest.mark.parametrize("name", [name for name, it in vars(signals).items() if type(it) is Signal])
def test_signal_has_description_action_and_arguments(name):
    text = entry("signals", rst.anchor("signal", name))

    assert described()[name].endswith(".")
    assert "``user``" in text
    assert re.search(r"^:Action: ``[\w.]+``$", text, re.MULTILINE)
    assert re.search(r"^:Arguments: ``event``, ``user``$", text, re.MULTILINE)


@pytest.mark.django_db
def test_signal_example_receives_a_refused_login(api, caplog, django_capture_on_commit_callbacks):
    text = (FOLDER / "signals.rst").read_text()
    code = textwrap.dedent(text.partition(".. code-block:: python\n")[2].partition("\n``user``")[0])
    names = {}
    exec(code, names)

    with django_capture_on_commit_callbacks(execute=True):
        api.post("login", email="ann@example.com", password="wrong")

    assert "from 127.0.0.1: " in caplog.text
    assert signals.login_failed.disconnect(names["log_refused_login"])


def commands_in_tree():
    """Each command with the arguments and subcommands that its file adds."""
    for path in TREE.glob("*/management/commands/authservice_*.py"):
        calls = [node for node in ast.walk(sources.parsed(path)) if isinstance(node, ast.Call)]
        added = {"add_argument": set(), "add_parser": set()}
        for call in calls:
            name = getattr(call.func, "attr", "")
            if name in added:
                added[name].add(call.args[0].value)
        yield pytest.param(path.stem, added["add_argument"], added["add_parser"], id=path.stem)


@pytest.mark.parametrize(("name", "arguments", "steps"), list(commands_in_tree()))
def test_command_has_a_description_and_each_argument(name, arguments, steps):
    text = entry("commands", rst.anchor("command", name)).partition("\n\n")[2]
    parts = [text, *(entry("commands", rst.anchor("command", name, step)) for step in steps)]
    whole = "".join(parts)

    assert re.match(r"[A-Z].*\.\n\nApp: ``authservice\.\w+``", text, re.DOTALL)
    for argument in arguments:
        typed = argument if argument.startswith("-") else argument.upper()
        assert re.search(rf"^:``{typed}[` ].*?: [A-Z]", whole, re.MULTILINE), argument


@pytest.mark.parametrize("limit", LIMITS, ids=lambda limit: limit.name)
def test_limit_has_an_amount(limit):
    assert f":At most: {limit.amount} in " in entry("limits", rst.anchor("limit", limit.name))


@pytest.mark.parametrize(("name", "rate"), RATES.items())
def test_rate_of_requests_has_its_setting_and_amount(name, rate):
    text = entry("limits", rst.anchor("rate", name))

    assert f':Setting: ``THROTTLE.RATES["{name}"]``' in text
    assert f":At most: ``{rate}``" in text
