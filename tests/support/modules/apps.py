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
    login_gate = "tests.support.modules.fillers.challenge"


class Claims(Plug):
    claims = "tests.support.modules.fillers.claim"


class Extras(Plug):
    login_extras = "tests.support.modules.fillers.extras"


class Guard(Plug):
    request_guard = "tests.support.modules.fillers.guard"


class Policy(Plug):
    login_policy = "tests.support.modules.fillers.policy"


class Messenger(Plug):
    messenger = "tests.support.modules.fillers.messenger"


class Broken(Plug):
    event_listener = "tests.support.modules.fillers.not_there"
