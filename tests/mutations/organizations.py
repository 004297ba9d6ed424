"""Organizations: roles, owners, invitations and the active organization."""

from __future__ import annotations

from tests.mutations.kinds import Mutation, to, without

ORG = "authservice/organization/"
_SETTINGS = "--ds=tests.organization.settings"


def _in(name: str) -> tuple[str, ...]:
    return _SETTINGS, f"tests/organization/inside/test_{name}.py"


_HOST_VIEWS = "tests/organization/inside/test_host_views.py::"
_INVITATIONS = "tests/organization/inside/test_invitations.py::"
_CONTINUED = "tests/organization/inside/test_continued_sessions.py::"

ORGANIZATIONS = (
    Mutation(
        "The refresh token of a client that switches without sending it",
        "authservice/core/sessions/rotation.py",
        to("    if not shown:\n        # The row", "    if False:\n        # The row")
        + to(
            "    token = _parse(shown)\n    if not token.genuine",
            "    token = RefreshToken(session.pk, session.counter, b'')\n"
            "    if shown and not token.genuine",
        ),
        (_SETTINGS, f"{_CONTINUED}test_client_that_ignores_the_tokens_refreshes"),
    ),
    Mutation(
        "The refresh token that the setting withholds from an access token",
        "authservice/core/sessions/rotation.py",
        to("if withheld else tokens", "if not tokens else tokens"),
        (_SETTINGS, f"{_CONTINUED}test_setting_withholds_the_refresh_token"),
    ),
    Mutation(
        "The signature of the refresh token that a switch replaces",
        "authservice/core/sessions/rotation.py",
        to("    if not token.genuine(session.seed):  # which", "    if False:  # which"),
        (_SETTINGS, f"{_CONTINUED}test_forged_token_is_refused"),
    ),
    Mutation(
        "The response under ASGI that varies by the user, where the organization was read",
        ORG + "middleware.py",
        to("return requests.varied_if_read(request, await awaited)", "return await awaited"),
        (_SETTINGS, f"{_HOST_VIEWS}test_response_varies_by_caller_under_asgi"),
    ),
    Mutation(
        "The response of an async view that varies by the user",
        ORG + "decorators.py",
        to(
            "return identity.varied(refused or await view(request, *args, **kwargs))",
            "return refused or await view(request, *args, **kwargs)",
        ),
        (_SETTINGS, f"{_HOST_VIEWS}test_decorated_view_varies_by_caller_without_the_middleware"),
    ),
    Mutation(
        "The response of a view that varies by the user",
        ORG + "decorators.py",
        to(
            "return identity.varied(refused or view(request, *args, **kwargs))",
            "return refused or view(request, *args, **kwargs)",
        ),
        (_SETTINGS, f"{_HOST_VIEWS}test_decorated_view_varies_by_caller_without_the_middleware"),
    ),
    Mutation(
        "The stored inviter of an invitation that another member sends again",
        ORG + "invitations.py",
        without("            rows.update(inviter=actor.person.user)\n"),
        (_SETTINGS, f"{_INVITATIONS}test_resent_invitation_is_that_of_the_resender"),
    ),
    Mutation(
        "The slug of a deleted organization, which stays reserved",
        ORG + "organizations.py",
        to("            if is_reserved_slug(slug):\n                raise _Reserved\n", ""),
        _in("bounds"),
    ),
    Mutation(
        "The rank below an admin of each role of the project",
        ORG + "roles.py",
        to("_RANKS = range(1, 200)", "_RANKS = range(1, 301)"),
        _in("checks"),
    ),
    Mutation(
        "The permission of the project that a role must grant",
        ORG + "requests.py",
        to("if permission and not roles.grants(member.role, permission):", "if False:"),
        _in("host_views"),
    ),
    Mutation(
        "The rule that no role gives a role that has more",
        ORG + "roles.py",
        to(" if role.permits <= permits and role.grants <= grants", ""),
        _in("roles"),
    ),
    Mutation(
        "The largest page of an array",
        "authservice/kernel/http/listing.py",
        to("else replace(requested, limit=MAX_LIMIT)", "else replace(requested, limit=MAX_OFFSET)"),
        _in("members"),
    ),
    Mutation(
        "The membership that a route below an organization requires",
        ORG + "access.py",
        to(
            "    if role is None:\n        raise errors.NotAMember\n",
            "    role = role or 'owner'\n",
        ),
        _in("roles"),
    ),
    Mutation(
        "The role of a member whom an admin changes",
        ORG + "members.py",
        to("require_manages(member.role, role)", "require_manages(role)"),
        _in("roles"),
    ),
    Mutation(
        "The role that an admin gives to a member",
        ORG + "members.py",
        to("require_manages(member.role, role)", "require_manages(member.role)"),
        _in("roles"),
    ),
    Mutation(
        "The last owner of an organization",
        ORG + "members.py",
        to(
            "if member.role == roles.OWNER and not other_owners(member).exists():\n        raise",
            "if False:\n        raise",
        ),
        _in("roles"),
    ),
    Mutation(
        "The lock that keeps one of two owners",
        ORG + "access.py",
        to("Organization.objects.select_for_update().filter(", "Organization.objects.filter("),
        (_SETTINGS, "tests/organization/inside/races/test_owners.py"),
        database="postgres",
    ),
    Mutation(
        "The owner after the deletion of a user",
        ORG + "members.py",
        to(
            "not other_owners(member).exists():\n            promoted",
            "False:\n            promoted",
        ),
        _in("deletion"),
    ),
    Mutation(
        "The end of a membership with each of several deleted users",
        ORG + "members.py",
        to(
            "count this one among the members who stay.\n        discard(member)\n",
            "count this one among the members who stay.\n",
        ),
        _in("deletion"),
    ),
    Mutation(
        "The right to create an organization",
        ORG + "organizations.py",
        without(
            "        if not people.allows(conf.who_may_create, person):\n"
            "            raise errors.Forbidden\n"
        ),
        _in("organizations"),
    ),
    Mutation(
        "The omission of inactive organizations from those of a user",
        ORG + "active.py",
        to("filter(user=user, organization__active=True)", "filter(user=user)"),
        _in("active"),
    ),
    Mutation(
        "The user whose organizations a login lists",
        ORG + "active.py",
        to("filter(user=user, organization__active=True)", "filter(organization__active=True)"),
        _in("active"),
    ),
    Mutation(
        "The active organization in the response of a kept session",
        ORG + "serializers.py",
        (
            *to("str(current_session.organization_id) if current_session", '"" if current_session'),
            # The look-up of an organization beyond the first 100 would find it too.
            *to("if active_one is None and current_session and", "if False and"),
        ),
        _in("answering"),
    ),
    Mutation(
        "The role of an invitation that an admin sends",
        ORG + "invitations.py",
        without("        actor.require_manages(role)\n"),
        _in("roles"),
    ),
    Mutation(
        "The right of the inviter when an invitation is accepted",
        ORG + "invitations.py",
        to("if not may_still_invite(invitation):", "if False:"),
        _in("answering"),
    ),
    Mutation(
        "The maximum of members",
        ORG + "members.py",
        without("    require_room(organization)\n"),
        _in("answering"),
    ),
    Mutation(
        "The organization of an invitation in a path",
        ORG + "invitations.py",
        to("rows.filter(organization=actor.organization, pk=key)", "rows.filter(pk=key)"),
        _in("tenants"),
    ),
    Mutation(
        "The organization that a former member loses in the session",
        ORG + "members.py",
        without("    active.forget_of(member)\n"),
        _in("active"),
    ),
    Mutation(
        "The membership behind the organization of a view",
        ORG + "requests.py",
        to(
            "active.memberships_of(caller.person).filter(organization=key).first()",
            "active.Membership.objects.filter(organization=key).first()",
        ),
        _in("host_views"),
    ),
    Mutation(
        "The forged request that the decorators of organizations refuse",
        ORG + "decorators.py",
        to("callers.require_caller(request)", "callers.identify(request)"),
        (
            _SETTINGS,
            f"{_HOST_VIEWS}test_forged_request_with_a_token_cookie_beside_a_session_of_django_is_refused",
        ),
    ),
    Mutation(
        "The forged request of a token cookie that the decorators of organizations refuse",
        ORG + "decorators.py",
        to(
            "    identified = identity.of(request).require()\n",
            "    identified = Identity(callers.identify(request))\n",
        ),
        (_SETTINGS, "tests/organization/inside/test_guards.py"),
    ),
    Mutation(
        "The outage that is not a user without an organization",
        "authservice/core/api/identity.py",
        to(
            "        if isinstance(self._result, errors.ServiceUnavailable):\n",
            "        if False:\n",
        ),
        (_SETTINGS, f"{_HOST_VIEWS}test_lazy_organization_is_an_error_during_an_outage"),
    ),
)
