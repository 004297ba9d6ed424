"""Cut the connection at each statement of each operation in turn, before and after it runs."""

from __future__ import annotations

from collections.abc import Callable

from tests.faults.proxy import AFTER, BEFORE
from tests.faults.traffic import Account, Client
from tests.faults.world import World


def cut_at_every_statement(world: World, client: Client, *names: str) -> dict[str, int]:
    """For each operation, or those named, the number of cuts. The client notes each response."""
    operations: dict[str, Callable[[Account], None]] = {
        "signup": client.sign_up,
        "login": client.log_in,
        "refresh": client.refresh,
        "reset-password": client.reset_password,
        "change-password": client.change_password,
        "logout": client.log_out,
    }
    return {name: _cuts(operations[name], world, client) for name in names or operations}


def _cuts(action: Callable[[Account], None], world: World, client: Client) -> int:
    return sum(_cuts_of_kind(kind, action, world, client) for kind in (BEFORE, AFTER))


def _cuts_of_kind(
    kind: str, action: Callable[[Account], None], world: World, client: Client
) -> int:
    """Cut the first statement, then the second, until the operation has no further one."""
    number = 0
    while True:
        number += 1
        account = client.new_account()
        world.proxy.watch(lambda at, wanted=number: kind if at == wanted else "")
        action(account)
        cut = world.proxy.statements >= number
        world.proxy.watch()
        if not cut:
            return number - 1
