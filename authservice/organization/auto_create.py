"""An organization for each user who signs up, if `ORGANIZATION.AUTO_CREATE` is on."""

from __future__ import annotations

from authservice.core.users import lookup
from authservice.core.users.person import Person
from authservice.kernel import events
from authservice.kernel.events import Event
from authservice.organization import organizations
from authservice.organization.conf import conf
from authservice.organization.models import NAME

# The way to sign up that makes a user a member of another organization already.
INVITATION = "org-invitation"


class AutoCreate:
    """Fills the slot `event_listener`: called in the transaction of the sign-up."""

    def listens(self, action: str) -> bool:
        """Whether an organization may be created after this action."""
        return action == "auth.signup" and conf.auto_create

    def __call__(self, event: Event) -> None:
        if event.metadata.get("method") == INVITATION:
            return
        person = lookup.get_person(event.user)
        name = name_from(conf.auto_create_name, _name_of(person))
        created = organizations.found_by(person.user, name=name)
        events.record("org.created", person, event.client, target=created, slug=created.slug)


on_event = AutoCreate()


def name_from(pattern: str, name: str) -> str:
    return pattern.format(name=name)[:NAME].strip()


def _name_of(person: Person) -> str:
    return person.account.name or person.username or person.email.partition("@")[0] or person.id
