"""Signals for host projects, one per public event.

They are sent after commit. An exception of a receiver is logged and affects neither the request nor
other receivers. Every signal has the arguments `event`, an `authservice.kernel.events.Event`, and
`user`, the host project's user. The string below each signal says when it is sent; the reference in
the docs shows it.
"""

from django.dispatch import Signal

signed_up = Signal()
"""A user signed up. `user` is the new user. If the sign-up begins a session, Django's
`user_logged_in` is sent too. `logged_in` is not sent for `POST /signup`, and is sent as well for an
account that a login creates: by a provider or by an accepted invitation."""
logged_in = Signal()
"""A session began after every required step, or staff logged in to Django admin. `user` is the
user."""
login_failed = Signal()
"""A login was refused. `user` is the user whom the request named, or None if there is no such
user."""
logged_out = Signal()
"""A user ended the current session. `user` is the user."""
tokens_refreshed = Signal()
"""A refresh token was exchanged for new tokens. `user` is the user."""
token_reuse_detected = Signal()
"""A used refresh token was sent again and may have been stolen; its session ended. `user` is the
user."""
email_changed = Signal()
"""A user confirmed another e-mail address, or changed the spelling of the current one.
`event.metadata["email"]` has `before` and `after`. `user` is the user."""
username_changed = Signal()
"""A user changed the username. `event.metadata["username"]` has `before` and `after`. `user` is the
user."""
account_throttled = Signal()
"""A limit on attempts was reached. `user` is the user whom the request named, or None if there is
no such user."""
invitation_sent = Signal()
"""An invitation to the service was sent, or sent again. `user` is the sender, or the member of
staff."""
invitation_accepted = Signal()
"""An invitation to the service was accepted. `user` is the user who accepted; `event.metadata` has
the id and the purpose of the invitation."""
invitation_declined = Signal()
"""An invitation to the service was declined. `user` is the user with the invited address, or None
if it has no account."""
invitation_cancelled = Signal()
"""An invitation to the service was cancelled. `user` is the sender, or the member of staff."""
provider_linked = Signal()
"""An identity provider was linked to an account; `event.metadata` has its name. `user` is the user
of the account; for an import it is None, and `event.target` is the user."""
provider_unlinked = Signal()
"""The link to an identity provider was removed; `event.metadata` has its name. `user` is the user
of the account; if staff or a recovery removed it, it is the member of staff or None, and
`event.target` is the user."""
organization_created = Signal()
"""An organization was created; `event.target` is its row. `user` is its owner."""
organization_updated = Signal()
"""An organization was changed; `event.target` is its row. `user` is the member or the member of
staff."""
organization_deleted = Signal()
"""An organization was deleted; `event.target` is its former row, `event.metadata` has the slug.
`user` is the owner or the member of staff, or None if its only member was deleted."""
organization_switched = Signal()
"""A user made an organization the active one of the session; `event.target` is its row."""
member_added = Signal()
"""A user joined an organization; `event.target` is the user, `event.metadata` has the ids and the
role. `user` is the same user, or the member of staff."""
member_removed = Signal()
"""A member left an organization or was removed; `event.target` is the former member,
`event.metadata` has the id of the organization. `user` is the acting user."""
member_role_changed = Signal()
"""A member got another role; `event.target` is the member, `event.metadata` has the id of the
organization and both roles. `user` is the acting user, or None after a deletion."""
organization_invitation_sent = Signal()
"""An invitation to an organization was sent, or sent again; `event.target` is the organization.
`user` is the sender."""
organization_invitation_accepted = Signal()
"""An invitation to an organization was accepted; `event.target` is the organization. `user` is the
user who accepted."""
organization_invitation_declined = Signal()
"""An invitation to an organization was declined; `event.target` is the organization. `user` is the
user with the invited address, or None if it has no account."""
organization_invitation_cancelled = Signal()
"""An invitation to an organization was cancelled; `event.target` is the organization. `user` is the
member, or the member of staff."""
