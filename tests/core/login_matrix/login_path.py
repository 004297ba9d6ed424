"""A way to sign in, as the matrix tries it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from tests.core.login_matrix.world import World
from tests.support.client import Answer


@dataclass(frozen=True)
class LoginPath:
    """`route` is the step that may return tokens; `begins_session` is False if they are never those
    of a new session."""

    route: str
    name: str = ""
    begins_session: ClassVar[bool] = True

    def __str__(self) -> str:
        return self.name or self.route

    def prepare(self, world: World) -> Any:
        """Returns what the user has obtained before the state changes."""

    def complete(self, world: World, proof: Any) -> Answer:
        raise NotImplementedError

    def use_up_limit(self, world: World, proof: Any) -> None:
        """Use up the limit of this path."""
        world.configure(THROTTLE={"RATES": {"default": "1/h"}})
        world.api.get("me")
