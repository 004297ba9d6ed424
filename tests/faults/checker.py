"""Compare the responses with what the database holds."""

from __future__ import annotations

from collections import Counter

from tests.faults.cluster import Cluster
from tests.faults.ledger import Ledger

# Each returns rows that should not exist, whatever the responses were.
_NEVER = {
    "user without an account, or the reverse": """
        SELECT u.id, a.user_id FROM auth_user u
        FULL JOIN authservice_core_account a ON a.user_id = u.id
        WHERE u.id IS NULL OR a.user_id IS NULL""",
    "account without exactly one entry of its sign-up": """
        SELECT a.user_id, count(e.id) FROM authservice_core_account a
        LEFT JOIN authservice_audit_entry e
            ON e.actor_id = a.user_id::text AND e.action = 'auth.signup'
        GROUP BY a.user_id HAVING count(e.id) <> 1""",
    "sessions that do not match the entries of logins": """
        SELECT s.user_id, s.found, e.found FROM
        (SELECT user_id, count(*) AS found FROM authservice_core_session GROUP BY user_id) s
        FULL JOIN
        (SELECT actor_id, count(*) AS found FROM authservice_audit_entry
         WHERE action IN ('auth.signup', 'auth.login.success') GROUP BY actor_id) e
        ON e.actor_id = s.user_id::text WHERE s.found IS DISTINCT FROM e.found""",
    "logouts that do not match their entries": """
        SELECT s.user_id, s.found, e.found FROM
        (SELECT user_id, count(*) AS found FROM authservice_core_session
         WHERE end_reason = 'logout' GROUP BY user_id) s
        FULL JOIN
        (SELECT actor_id, count(*) AS found FROM authservice_audit_entry
         WHERE action = 'auth.logout' GROUP BY actor_id) e
        ON e.actor_id = s.user_id::text WHERE s.found IS DISTINCT FROM e.found""",
}
_STORED = """
    SELECT u.email, e.action, count(*) FROM authservice_audit_entry e
    JOIN auth_user u ON u.id::text = e.actor_id GROUP BY u.email, e.action"""
_REFRESHED = """
    SELECT u.email, 'refresh', sum(s.counter) FROM authservice_core_session s
    JOIN auth_user u ON u.id = s.user_id GROUP BY u.email"""


def contradictions(cluster: Cluster, ledger: Ledger) -> list[str]:
    """What the database holds without a response, and what it lacks."""
    return [*_impossible(cluster), *_unexplained(cluster, ledger)]


def _impossible(cluster: Cluster) -> list[str]:
    found = {what: cluster.run(sql) for what, sql in _NEVER.items()}
    return [f"{what}: {rows[:3]}" for what, rows in found.items() if rows]


def _unexplained(cluster: Cluster, ledger: Ledger) -> list[str]:
    """Actions that are stored more or less often than the responses allow."""
    stored = Counter(
        {(email, action): int(count) for email, action, count in cluster.run(_STORED)}
    ) + Counter({(email, action): int(count) for email, action, count in cluster.run(_REFRESHED)})
    wrong = []
    for email, known in ledger.users.items():
        for action in {*known.sure, *known.unsure}:
            least, most = known.sure[action], known.sure[action] + known.unsure[action]
            if not least <= stored[email, action] <= most:
                wrong.append(f"{email}: {stored[email, action]} × {action}, not {least} to {most}")
    return wrong
