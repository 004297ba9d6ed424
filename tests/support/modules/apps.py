"""Modules for tests, each of which fills one slot."""

from authservice.kernel import modules


class Plug(modules.ModuleConfig):
    name = "tests.support.modules"
    label = "plugs"


class FailingListener(Plug):
    event_listener = "tests.support.modules.fillers.fail"


class RecordingListener(Plug):
    event_listener = "tests.support.modules.fillers.record"


class Gate(Plug):
    second_factor = "tests.support.modules.fillers.factor"


class CalledPassword(Plug):
    second_factor = "tests.support.modules.fillers.called_password"


class CalledByTwoNames(Plug):
    second_factor = "tests.support.modules.fillers.called_by_two_names"


class Claims(Plug):
    session_data = "tests.support.modules.fillers.claims"


class Extras(Plug):
    session_data = "tests.support.modules.fillers.extras"


class Guard(Plug):
    request_guard = "tests.support.modules.fillers.guard"


class Policy(Plug):
    login_policy = "tests.support.modules.fillers.policy"


class Messenger(Plug):
    messenger = "tests.support.modules.fillers.messenger"


class Misspelled(Plug):
    event_listener = "tests.support.modules.fillers.misspelled"


class OfAnotherSlot(Plug):
    messenger = "tests.support.modules.fillers.record"


class NoFunction(Plug):
    expired_rows = "tests.support.modules.fillers.sent"


class Broken(Plug):
    event_listener = "tests.support.modules.fillers.not_there"
