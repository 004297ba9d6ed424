"""Modules made for the tests: each fills one slot, as an installed module would."""

from authservice.kernel import modules


class Plug(modules.ModuleConfig):
    name = "tests.plugs"
    label = "plugs"


class Refuser(Plug):
    event_listener = "tests.plugs.fillers.refuse_to_keep"


class Keeper(Plug):
    event_listener = "tests.plugs.fillers.keep"


class Gate(Plug):
    login_gate = "tests.plugs.fillers.ask"


class Claimer(Plug):
    claims = "tests.plugs.fillers.claim"


class Extras(Plug):
    login_extras = "tests.plugs.fillers.extras"


class Guard(Plug):
    request_guard = "tests.plugs.fillers.guard"


class Policy(Plug):
    login_policy = "tests.plugs.fillers.policy"


class Messenger(Plug):
    messenger = "tests.plugs.fillers.messenger"


class Broken(Plug):
    event_listener = "tests.plugs.fillers.not_there"
