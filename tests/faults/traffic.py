"""Clients that sign up, log in, refresh, log out, change and reset passwords, all the time.

Each client is the only one that uses its accounts. So it knows what the service promised about each
session and password: certain after a response, and uncertain after a 503 or none.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Thread

from tests.faults.ledger import Known, Ledger
from tests.faults.mailbox import Mailbox
from tests.faults.service import Line, Reply

CLIENTS = 8
_ACCOUNTS = 4  # that a client uses at the same time
_PAUSE = 0.05  # after a refusal, before the next operation
_LATEST = 20  # ended sessions of an account that are tried again during the traffic


@dataclass
class Held:
    """A session as its client knows it; `unsure` if the service may have ended it unnoticed."""

    access: str
    refresh: str
    unsure: bool = False


@dataclass
class Account:
    """An account; several passwords if a change had no certain outcome."""

    email: str
    passwords: list[str]
    known: Known
    open: list[Held] = field(default_factory=list)
    ended: list[Held] = field(default_factory=list)

    def end(self, *ended: Held) -> None:
        """The service said that these sessions have ended."""
        self.ended.extend(ended)
        self.open = [held for held in self.open if held not in ended]

    def doubt(self) -> None:
        for held in self.open:
            held.unsure = True


class Client:
    def __init__(self, number: int, port: int, ledger: Ledger, mailbox: Mailbox) -> None:
        self._name, self._ledger, self._mailbox = f"client{number}", ledger, mailbox
        self._line = Line(port)
        self._random = random.Random(number)
        self._made = 0
        self._refreshed: set[str] = set()
        self._accounts: list[Account] = []
        self.retired: list[Account] = []
        self._choices = {
            self.me: 25,
            self.refresh: 30,
            self.log_in: 12,
            self.probe: 10,
            self.log_out: 9,
            self.sign_up: 6,
            self.change_password: 5,
            self.reset_password: 3,
        }

    def step(self) -> None:
        """One random operation."""
        [chosen] = self._random.choices(list(self._choices), list(self._choices.values()))
        if not self._accounts:
            self.sign_up(None)
        else:
            chosen(self._random.choice(self._accounts))

    def settle(self) -> None:
        """After the fault: ask about every session and password that was ever promised."""
        for account in [*self.retired, *self._accounts]:
            for held in account.ended:
                self._refuses(account, held)
                self._refuses_refresh(account, held)
            for held in list(account.open):
                self.refresh(account, held)
            self.log_in(account)

    def close(self) -> None:
        self._line.close()

    def new_account(self) -> Account:
        """Another account with an open session."""
        before = self._accounts[-1:]
        while self._accounts[-1:] == before:  # the first request may find a dead connection
            self.sign_up(None)
        return self._accounts[-1]

    # Operations. The name of each is that of the audit action that it causes, where there is one.

    def sign_up(self, _: Account | None) -> None:
        self._made += 1
        email, password = f"{self._name}-{self._made}@example.com", self._password()
        reply = self._call("POST", "signup", email=email, password=password)
        known = self._ledger.user(email)
        known.add("auth.signup", reply)
        if reply.status == 201:
            account = Account(email, [password], known)
            self._hold(account, reply)
            self._accounts.append(account)
            if len(self._accounts) > _ACCOUNTS:
                self.retired.append(self._accounts.pop(0))
        elif reply.known:
            self._wrong("signup", reply)

    def log_in(self, account: Account) -> None:
        for password in list(account.passwords):
            reply = self._call("POST", "login", email=account.email, password=password)
            account.known.add("auth.login.success", reply)
            if reply.status == 200:
                account.passwords = [password]
                self._hold(account, reply)
            if reply.code != "INVALID_CREDENTIALS" or len(account.passwords) == 1:
                self._expect(200, "login", reply)
                return
            account.passwords.remove(password)

    def me(self, account: Account, held: Held | None = None) -> None:
        if held := held or self._any(account):
            self._note(account, held, "me", self._call("GET", "me", held.access))

    def refresh(self, account: Account, held: Held | None = None) -> None:
        if not (held := held or self._any(account)):
            return
        sent = held.refresh
        reply = self._call("POST", "refresh", refresh_token=sent)
        account.known.add("refresh", reply)
        if reply.status == 200 and sent in self._refreshed:
            self._ledger.blame(f"{account.email}: two successors of one refresh token")
        if reply.status == 200:
            self._refreshed.add(sent)
            held.access, held.refresh = self._tokens(reply)
            held.unsure = False
        self._note(account, held, "refresh", reply)

    def log_out(self, account: Account) -> None:
        if not (held := self._any(account)):
            return
        reply = self._call("POST", "logout", held.access)
        account.known.add("auth.logout", reply)
        self._note(account, held, "logout", reply)
        if reply.status == 200:
            account.end(held)

    def probe(self, account: Account) -> None:
        """A session that has ended is refused, also while the fault lasts."""
        if account.ended:
            self._refuses(account, self._random.choice(account.ended[-_LATEST:]))

    def change_password(self, account: Account) -> None:
        held = self._any(account)
        if held is None or len(account.passwords) > 1:
            return
        new = self._password()
        reply = self._call(
            *("PUT", "change-password", held.access),
            old_password=account.passwords[0],
            new_password=new,
        )
        account.known.add("auth.password.changed", reply)
        self._note(account, held, "change-password", reply)
        if reply.status == 200:
            account.passwords = [new]
            account.end(*(other for other in account.open if other is not held))
        elif not reply.known:
            account.passwords.append(new)
            account.doubt()

    def reset_password(self, account: Account) -> None:
        asked = self._call("POST", "forgot-password", email=account.email)
        self._expect(200, "forgot-password", asked)
        token = self._mailbox.reset_token(account.email) if asked.status == 200 else ""
        if not token:
            return
        self._ledger.keep_secret(token)
        new = self._password()
        given = {"token": token, "email": account.email}
        reply = self._call("POST", "reset-password", **given, new_password=new)
        account.known.add("auth.password.reset", reply)
        # A delayed mail may have the link of an earlier request, which a later one revoked.
        if reply.code != "INVALID_TOKEN":
            self._expect(200, "reset-password", reply)
        if reply.status == 200:
            account.passwords = [new]
            account.end(*account.open)
            again = self._call("POST", "reset-password", **given, new_password=self._password())
            self._expect(400, "reset-password with a used link", again)
        elif not reply.known:
            account.passwords.append(new)
            account.doubt()

    # What every operation needs.

    def _call(self, method: str, path: str, bearer: str = "", /, **body: str) -> Reply:
        began = time.monotonic()
        reply = self._line.call(method, path, bearer, **body)
        self._ledger.note(path, reply, time.monotonic() - began)
        if not reply.known:
            time.sleep(_PAUSE)
        return reply

    def _note(self, account: Account, held: Held, operation: str, reply: Reply) -> None:
        """What a response says about the session that sent the request."""
        if not reply.known:
            held.unsure = held.unsure or operation != "me"
        elif reply.status == 401 and held.unsure:
            account.open = [other for other in account.open if other is not held]
        else:
            self._expect(200, f"{operation} in an open session", reply)

    def _refuses(self, account: Account, held: Held) -> None:
        reply = self._call("GET", "me", held.access)
        self._expect(401, f"{account.email}: me in an ended session", reply)

    def _refuses_refresh(self, account: Account, held: Held) -> None:
        reply = self._call("POST", "refresh", refresh_token=held.refresh)
        self._expect(401, f"{account.email}: refresh in an ended session", reply)

    def _expect(self, status: int, operation: str, reply: Reply) -> None:
        if reply.known and reply.status != status:
            self._wrong(operation, reply)

    def _wrong(self, operation: str, reply: Reply) -> None:
        self._ledger.blame(f"{operation}: {reply.status} {reply.code}")

    def _hold(self, account: Account, reply: Reply) -> None:
        account.open.append(Held(*self._tokens(reply)))

    def _tokens(self, reply: Reply) -> tuple[str, str]:
        tokens = reply.data["access_token"], reply.data["refresh_token"]
        self._ledger.keep_secret(*tokens)
        return tokens

    def _any(self, account: Account) -> Held | None:
        return self._random.choice(account.open) if account.open else None

    def _password(self) -> str:
        password = f"plum-tart-{self._random.getrandbits(48):x}-windows"
        self._ledger.keep_secret(password)
        return password


def run(clients: list[Client], going: Callable[[], bool]) -> list[Thread]:
    """Start a thread for each client, which continues as long as `going()`."""

    def work(client: Client) -> None:
        while going():
            client.step()

    threads = [Thread(target=work, args=(client,), daemon=True) for client in clients]
    for thread in threads:
        thread.start()
    return threads


def settle(clients: list[Client]) -> list[Thread]:
    """After the fault: start a thread for each client, which checks all responses."""
    threads = [Thread(target=client.settle, daemon=True) for client in clients]
    for thread in threads:
        thread.start()
    return threads
