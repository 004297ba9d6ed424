"""The page of management commands, from their argument parsers."""

from __future__ import annotations

from argparse import Action, ArgumentParser, _SubParsersAction
from collections.abc import Iterator

from django.core.management import get_commands, load_command_class

from tests.reference import rst

INTRO = """
You want to know what a command does: find it here, with all its options and the module that has it.

.. code-block:: sh

   python manage.py authservice_doctor

Django's own options, such as ``--settings`` and ``--verbosity``, work as usual. A command that
fails exits with a status other than 0, so that cron and systemd notice it.
"""


def page() -> str:
    return rst.page("Commands", INTRO, map(_command, names()))


def names() -> list[str]:
    return sorted(name for name in get_commands() if name.startswith("authservice_"))


def _command(name: str) -> str:
    app = get_commands()[name]
    command = load_command_class(app, name)
    parser = ArgumentParser(add_help=False)
    command.add_arguments(parser)
    entries = "\n\n".join([rst.paragraph(command.help), f"App: ``{app}``", *_arguments(parser)])
    steps = "".join(f"\n\n{step}" for step in _steps(name, parser))
    return rst.entry(rst.anchor("command", name), rst.literal(name), entries + steps)


def _steps(command: str, parser: ArgumentParser) -> Iterator[str]:
    """An entry for each subcommand, such as `authservice_keys rotate`."""
    for choice in _subcommands(parser):
        texts = {one.dest: one.help or "" for one in choice._choices_actions}
        for name, step in choice.choices.items():
            body = "\n\n".join([_sentence(texts[name]), *_arguments(step)])
            title = rst.literal(f"{command} {name}")
            yield rst.entry(rst.anchor("command", command, name), title, body, "~")


def _subcommands(parser: ArgumentParser) -> list[_SubParsersAction[ArgumentParser]]:
    return [one for one in parser._actions if isinstance(one, _SubParsersAction)]


def _arguments(parser: ArgumentParser) -> Iterator[str]:
    """The arguments as a field list, or nothing."""
    own = [one for one in parser._actions if "-h" not in one.option_strings]
    shown = {_spelled(one): _about(parser, one) for one in own if one not in _subcommands(parser)}
    if shown:
        yield rst.fields(shown)


def _spelled(argument: Action) -> str:
    """The argument as one types it, such as `--before DATE`."""
    value = argument.metavar or (argument.dest if argument.nargs != 0 else "")
    if argument.choices:
        value = "{" + ",".join(argument.choices) + "}"
    name = argument.option_strings[0] if argument.option_strings else ""
    shown = value if argument.metavar or argument.choices else str(value).upper()
    return rst.literal(" ".join(filter(None, [name, shown])))


def _about(parser: ArgumentParser, argument: Action) -> str:
    needed = argument.required and bool(argument.option_strings)
    alternatives = [
        _spelled(other)
        for group in parser._mutually_exclusive_groups
        if argument in group._group_actions
        for other in group._group_actions
        if other is not argument
    ]
    either = f" Required, unless {', '.join(alternatives)} is given." if alternatives else ""
    default = f" Default: ``{argument.default}``." if _unmentioned_default(argument) else ""
    shown = (argument.help or f"The {argument.dest}.").replace(" (%(default)s)", "")
    text = _sentence(shown)
    return text + either + (" Required." if needed else "") + default


def _unmentioned_default(argument: Action) -> bool:
    shown = argument.nargs != 0 and argument.default not in (None, "", [])
    return bool(shown and str(argument.default) not in (argument.help or ""))


def _sentence(text: str) -> str:
    return rst.prose(text[0].upper() + text[1:].rstrip(".") + ".")
