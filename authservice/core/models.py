"""The tables of core: accounts, sessions, one-time tokens, address reservations, password
checks, unseen passwords, attempt counters, lost messages and imported rows.

Rows reference the user model of the host project, whichever it is. Names of constraints and indexes
are global in some databases, hence their prefix.
"""

from __future__ import annotations

from typing import Any, ClassVar

from django.conf import settings
from django.db import models

from authservice.kernel import clock
from authservice.kernel.clock import uuid7
from authservice.kernel.databases import OfUserManager, PrimaryManager
from authservice.kernel.languages import admin_text as _
from authservice.kernel.levels import Record

KEY = 64  # hex characters of a SHA-256
DEVICES = 10  # known devices of an account that have password attempts of their own


class PhoneSource(models.TextChoices):
    """Who set the current number of an account, and with which proof."""

    SIGNUP = "signup", "at sign-up"
    PASSWORD = "password", "by the user, with the password"
    SESSION = "session", "by a signed-in client, without the password"
    STAFF = "staff", "by staff"
    CONFIRMED = "confirmed", "by staff, then confirmed by the signed-in user"


class Account(models.Model):
    """The data of a user beyond the host's own model.

    For fields that the host's model has (e-mail, username, names, active), the host's value is
    authoritative; the copies here exist for indexes. A claim is the key of the current identifier,
    and several users may have the same one. The unique key equals the claim for the one user who is
    found by it, and is None for the others and without an identifier. Of the phone number,
    `phone_key` is the claim and `verified_phone_key` the unique key.
    """

    user = models.OneToOneField(
        settings.AUTH_USER_MODEL,
        on_delete=models.CASCADE,
        primary_key=True,
        related_name="authservice_account",
        verbose_name=_("user"),
    )
    email = models.CharField(
        max_length=254, blank=True, default="", verbose_name=_("e-mail address")
    )
    # NULL without an identifier: a unique column can have many NULLs, but only one empty string.
    email_key = models.CharField(max_length=KEY, null=True, editable=False)  # noqa: DJ001 unique
    email_claim = models.CharField(max_length=KEY, blank=True, default="", editable=False)
    username = models.CharField(max_length=254, blank=True, default="", verbose_name=_("username"))
    username_key = models.CharField(max_length=KEY, null=True, editable=False)  # noqa: DJ001
    username_claim = models.CharField(max_length=KEY, blank=True, default="", editable=False)
    phone_number = models.CharField(
        max_length=16, blank=True, default="", verbose_name=_("phone number")
    )
    # Several accounts may have a number until one of them has verified it.
    phone_key = models.CharField(max_length=KEY, null=True, editable=False)  # noqa: DJ001
    name = models.CharField(max_length=255, blank=True, default="", verbose_name=_("name"))
    first_name = models.CharField(
        max_length=150, blank=True, default="", verbose_name=_("first name")
    )
    last_name = models.CharField(
        max_length=150, blank=True, default="", verbose_name=_("last name")
    )
    avatar = models.CharField(max_length=2048, blank=True, default="", verbose_name=_("avatar"))
    active = models.BooleanField(default=True, verbose_name=_("active"))
    is_super_admin = models.BooleanField(default=False, verbose_name=_("super admin"))
    # The key of the verified address instead of a flag: an address that the host project changes
    # directly is therefore unverified.
    verified_email_key = models.CharField(max_length=KEY, blank=True, default="", editable=False)
    verified_phone_key = models.CharField(max_length=KEY, null=True, editable=False)  # noqa: DJ001
    # "Proven" is stronger than "verified": only the owner of the mailbox can have proven the
    # address. A program that opens every link of a mail verifies an address, but proves nothing.
    proven_email_key = models.CharField(max_length=KEY, blank=True, default="", editable=False)
    email_proven_at = models.DateTimeField(null=True, blank=True, editable=False)
    # Who set the current number decides when it may reset the password.
    phone_set_by = models.CharField(
        max_length=16, choices=PhoneSource.choices, default=PhoneSource.SIGNUP, editable=False
    )
    phone_added_at = models.DateTimeField(null=True, blank=True, editable=False)
    phone_verified_at = models.DateTimeField(null=True, blank=True, editable=False)
    # Raised when all sessions of the user end: earlier access tokens are not valid.
    token_version = models.PositiveIntegerField(default=0)
    # Raised when a second factor is enabled: sessions that began earlier without it are not valid.
    factor_version = models.PositiveIntegerField(default=0, editable=False)
    # Raised when the password is changed or reset: earlier device tokens are not valid.
    device_version = models.PositiveIntegerField(default=0, editable=False)
    # Ids of the newest known devices, 32 hex characters each, the oldest first.
    device_ids = models.CharField(max_length=DEVICES * 32, blank=True, default="", editable=False)
    # The last password reset or "this was not me". An intruder may just have been locked out, so
    # modules can be stricter for some time.
    recovered_at = models.DateTimeField(null=True, blank=True, editable=False)
    # Set if the newest message to the user could not be sent: when, and its kind with the class of
    # the error.
    mail_failed_at = models.DateTimeField(null=True, blank=True, editable=False)
    mail_failure = models.CharField(max_length=100, blank=True, default="", editable=False)
    created_at = models.DateTimeField(default=clock.now, verbose_name=_("created"))
    updated_at = models.DateTimeField(null=True, blank=True, verbose_name=_("changed"))

    objects = OfUserManager()

    class Meta:
        verbose_name = _("account")
        verbose_name_plural = _("accounts")
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["email_key"], name="authsvc_account_email"),
            models.UniqueConstraint(fields=["username_key"], name="authsvc_account_username"),
            models.UniqueConstraint(fields=["verified_phone_key"], name="authsvc_account_phone"),
        ]
        indexes: ClassVar = [
            models.Index(fields=["phone_key"], name="authsvc_account_phoneclaim"),
            models.Index(fields=["email_claim"], name="authsvc_account_emailclaim"),
            models.Index(fields=["username_claim"], name="authsvc_account_nameclaim"),
            # The sort fields of lists, with the primary key as tie-breaker.
            models.Index(fields=["created_at", "user"], name="authsvc_account_bycreated"),
            models.Index(fields=["email", "user"], name="authsvc_account_byemail"),
            models.Index(fields=["username", "user"], name="authsvc_account_byusername"),
            models.Index(fields=["name", "user"], name="authsvc_account_byname"),
            models.Index(fields=["is_super_admin"], name="authsvc_account_superadmin"),
        ]
        # For the buttons of the support page, without the permission to edit accounts.
        permissions: ClassVar = [
            ("support_account", "Can help users to log in"),
            ("verify_account", "Can mark e-mail addresses as verified"),
            ("suspend_account", "Can suspend and reactivate users"),
        ]

    def __str__(self) -> str:
        return self.email or self.username or str(self.pk)

    def natural_key(self) -> tuple[Any, ...]:
        key: tuple[Any, ...] = self.user.natural_key()
        return key

    natural_key.dependencies = [settings.AUTH_USER_MODEL]  # type: ignore[attr-defined]


# Django leaves primary keys out of the fields of a fixture. This one names the user.
Account._meta.get_field("user").serialize = True  # type: ignore[attr-defined]


class Session(models.Model):
    """One session, from login to its end; its refresh tokens are derived, never stored.

    `counter` is the number of the current refresh token, `seed` is part of its MAC,
    `password_fingerprint` is a keyed digest of the password hash at login.
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.CASCADE,
        related_name="authservice_sessions",
        verbose_name=_("user"),
    )
    seed = models.CharField(max_length=32, editable=False)
    counter = models.PositiveIntegerField(default=0)
    password_fingerprint = models.CharField(max_length=KEY, editable=False)
    token_version = models.PositiveIntegerField()
    factor_version = models.PositiveIntegerField(default=0)
    # `amr` and `auth_time` are about the strongest proof of the session, `levels` has the last
    # moment of each level: see `kernel/levels.py`.
    amr = models.CharField(max_length=64, verbose_name=_("login methods"))
    levels = models.CharField(max_length=Record.LENGTH, blank=True, default="", editable=False)
    # The way to sign in, such as "password" or "oauth:google": removing a way to sign in ends the
    # sessions that began with it.
    method = models.CharField(max_length=80, blank=True, default="", editable=False)
    auth_time = models.DateTimeField()
    organization_id = models.UUIDField(null=True, blank=True)
    device_id = models.UUIDField(null=True, blank=True)
    user_agent = models.CharField(max_length=512, blank=True, default="", verbose_name=_("browser"))
    ip_address = models.CharField(
        max_length=45, blank=True, default="", verbose_name=_("IP address")
    )
    created_at = models.DateTimeField(verbose_name=_("started"))
    refreshed_at = models.DateTimeField(verbose_name=_("last refreshed"))
    last_used_at = models.DateTimeField(verbose_name=_("last used"))
    idle_expires_at = models.DateTimeField(verbose_name=_("expires if idle"))
    expires_at = models.DateTimeField(verbose_name=_("expires"))
    ended_at = models.DateTimeField(null=True, blank=True, verbose_name=_("ended"))
    end_reason = models.CharField(
        max_length=32, blank=True, default="", verbose_name=_("reason for the end")
    )

    objects = PrimaryManager()

    class Meta:
        verbose_name = _("session")
        verbose_name_plural = _("sessions")
        indexes: ClassVar = [models.Index(fields=["expires_at"], name="authsvc_session_expires")]

    def __str__(self) -> str:
        return str(self.pk)


class OneTimeToken(models.Model):
    """One link or code that works once: a keyed digest, its user or target, and its attempts.

    A link is found by `digest`; a code by purpose and target, then compared with `code_digest`.
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    purpose = models.CharField(max_length=32, verbose_name=_("purpose"))
    digest = models.CharField(max_length=KEY, null=True, editable=False)  # noqa: DJ001 unique
    code_digest = models.CharField(max_length=KEY, blank=True, default="", editable=False)
    target_key = models.CharField(max_length=KEY, blank=True, default="", editable=False)
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.CASCADE,
        null=True,
        blank=True,
        related_name="authservice_one_time_tokens",
        verbose_name=_("user"),
    )
    payload = models.JSONField(default=dict, blank=True)
    password_fingerprint = models.CharField(max_length=KEY, blank=True, default="", editable=False)
    attempts = models.PositiveSmallIntegerField(default=0, verbose_name=_("attempts"))
    created_at = models.DateTimeField(default=clock.now, verbose_name=_("created"))
    expires_at = models.DateTimeField(verbose_name=_("expires"))
    spent_at = models.DateTimeField(null=True, blank=True, verbose_name=_("used"))
    # When the job of a security notice is enqueued again if its link has not been issued by then;
    # None for all other tokens.
    resend_at = models.DateTimeField(null=True, blank=True, editable=False)

    objects = PrimaryManager()

    class Meta:
        verbose_name = _("link or code")
        verbose_name_plural = _("links and codes")
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["digest"], name="authsvc_onetimetoken_digest"),
        ]
        indexes: ClassVar = [
            models.Index(
                fields=["purpose", "target_key", "created_at"], name="authsvc_onetimetoken_target"
            ),
            models.Index(fields=["expires_at"], name="authsvc_onetimetoken_expires"),
        ]

    def __str__(self) -> str:
        return f"{self.purpose} {self.pk}"


class AddressReservation(models.Model):
    """A former address of an account: until `expires_at` no other account may have it."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.CASCADE,
        related_name="authservice_address_reservations",
    )
    email_key = models.CharField(max_length=KEY, editable=False)
    expires_at = models.DateTimeField()

    objects = PrimaryManager()

    class Meta:
        indexes: ClassVar = [models.Index(fields=["email_key"], name="authsvc_reservation_email")]

    def __str__(self) -> str:
        return f"of {self.user_id} until {self.expires_at}"


class PasswordCheck(models.Model):
    """What a check of a right password at a login has found: the broken rule, or "" if the password
    is safe. Until `expires_at` the same password is not checked or reported again."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.CASCADE,
        related_name="authservice_password_checks",
    )
    password_fingerprint = models.CharField(max_length=KEY, editable=False)
    rule = models.TextField(blank=True, default="")
    expires_at = models.DateTimeField()

    objects = PrimaryManager()

    def __str__(self) -> str:
        return f"of {self.user_id} until {self.expires_at}"


class UnseenPassword(models.Model):
    """A password that was stored as a hash, so that no validator has seen it: they see it at the
    first login with it."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.CASCADE,
        related_name="authservice_unseen_passwords",
    )
    password_fingerprint = models.CharField(max_length=KEY, editable=False)
    expires_at = models.DateTimeField()

    objects = PrimaryManager()

    def __str__(self) -> str:
        return f"of {self.user_id} until {self.expires_at}"


class AttemptCounter(models.Model):
    """An exact counter of attempts; changed by single statements, see
    `credentials/attempt_counter`."""

    key = models.CharField(max_length=KEY, primary_key=True)
    count = models.PositiveIntegerField(default=0, verbose_name=_("attempts"))
    strikes = models.PositiveSmallIntegerField(default=0, verbose_name=_("lockouts"))
    ends_at = models.DateTimeField(verbose_name=_("ends"))
    # A client that pauses before it has used up a window never has to wait, so attempts are counted
    # per day too.
    day_count = models.PositiveIntegerField(default=0)
    day_ends_at = models.DateTimeField(default=clock.now)
    # Until this time no further audit entry is written: there is one each time that the limit is
    # reached.
    reported_until = models.DateTimeField(null=True, blank=True)

    objects = PrimaryManager()

    class Meta:
        verbose_name = _("counter of failed attempts")
        verbose_name_plural = _("counters of failed attempts")
        indexes: ClassVar = [models.Index(fields=["ends_at"], name="authsvc_attempt_ends")]

    def __str__(self) -> str:
        return f"{self.count} until {self.ends_at}"


class LostMessage(models.Model):
    """A message that was given up after its last attempt, for staff to send again.

    `job` is the job as a queue has it: it has no link and no code, since the worker issues those
    when it sends. `user` is None if no account has the address or number.
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.CASCADE,
        null=True,
        blank=True,
        related_name="authservice_lost_messages",
        verbose_name=_("user"),
    )
    kind = models.CharField(max_length=64, verbose_name=_("message"))
    recipient = models.CharField(max_length=254, verbose_name=_("recipient"))
    job = models.JSONField(editable=False)
    reason = models.CharField(max_length=255, verbose_name=_("reason"))
    lost_at = models.DateTimeField(default=clock.now, verbose_name=_("given up"))
    sent_again_at = models.DateTimeField(null=True, blank=True, verbose_name=_("sent again"))

    objects = PrimaryManager()

    class Meta:
        verbose_name = _("lost message")
        verbose_name_plural = _("lost messages")
        indexes: ClassVar = [
            models.Index(fields=["lost_at"], name="authsvc_lostmessage_at"),
            models.Index(fields=["recipient", "kind"], name="authsvc_lostmessage_to"),
        ]

    def __str__(self) -> str:
        return f"{self.kind}: {self.recipient}"


class ImportedRowManager(PrimaryManager["ImportedRow"]):
    def get_by_natural_key(self, source: str, kind: str, key: str) -> ImportedRow:
        return self.get(source=source, kind=kind, key=key)


class ImportedRow(models.Model):
    """A row of another package that `authservice_import` has imported; no later run does so again.

    `source` is the package, `kind` what the row became, `key` its primary key there.
    """

    source = models.CharField(max_length=32)
    kind = models.CharField(max_length=32)
    key = models.CharField(max_length=KEY)
    imported_at = models.DateTimeField(default=clock.now)

    objects = ImportedRowManager()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["source", "kind", "key"], name="authsvc_importedrow"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.key} of {self.source}"

    def natural_key(self) -> tuple[str, ...]:
        return (self.source, self.kind, self.key)
