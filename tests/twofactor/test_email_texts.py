"""The owner of a second factor is notified by e-mail of every change of it."""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from django.test import TestCase

from authservice import twofactor
from authservice.core.users import lookup
from authservice.kernel import modules
from authservice.kernel.message_queue import Message
from authservice.notification import worker
from authservice.twofactor import enrolment
from tests.support.flows import CommittingApi, prove
from tests.support.messenger.post import Post, office
from tests.support.mounted import mounted
from tests.support.people import make_user, the_user
from tests.twofactor.people import ANN, Person, app_of

pytestmark = pytest.mark.django_db
KINDS = (enrolment.MAIL_ENABLED, enrolment.MAIL_DISABLED, enrolment.MAIL_CODES_RENEWED)
AGENT = {"User-Agent": "Browser of Eve"}


class TestJobs:
    @pytest.fixture
    def api(self):
        return CommittingApi()

    @pytest.fixture(autouse=True)
    def post(self) -> Iterator[Post]:
        with modules.plugged("messenger", office):
            yield office

    @pytest.fixture
    def jobs(self, post):
        """`jobs()` lists the jobs about second factors; Ann's address is verified."""
        post.jobs.clear()
        prove()
        return lambda: [job for job in post.jobs if job.kind in KINDS]

    def test_enabling_sends_an_email_with_the_client(self, ann, jobs, clock):
        clock.stand_still()  # the mail quotes the time
        ann.set_up()
        assert jobs() == []

        ann.post("2fa/verify", code=ann.code(), headers=AGENT)

        (job,) = jobs()
        assert (job.kind, job.target) == (enrolment.MAIL_ENABLED, ANN)
        assert job.details == {
            "notice": job.details["notice"],
            "user_agent": "Browser of Eve",
            "ip_address": "127.0.0.1",
            "at": datetime.now(UTC).isoformat(),
        }

    def test_enabling_during_login_sends_an_email(self, api, jobs, configure):
        configure(TWOFACTOR={"REQUIRED": "everybody"})
        api.post("signup", email=ANN, password="plum tart 42 windows")
        prove()
        person = Person(api)
        token = person.temp_token()
        person.app = app_of(api.post("2fa/setup-login", temp_token=token).data["qr_url"])

        person.verify_login(person.code(), token)

        assert [job.kind for job in jobs()] == [enrolment.MAIL_ENABLED]

    @pytest.mark.parametrize(
        ("path", "kind"),
        [
            ("2fa/disable", enrolment.MAIL_DISABLED),
            ("2fa/backup-codes", enrolment.MAIL_CODES_RENEWED),
        ],
    )
    def test_change_by_the_owner_sends_an_email(self, enrolled, jobs, path, kind):
        enrolled.post(path, code=enrolled.code(), headers=AGENT)

        (job,) = jobs()
        assert (job.kind, job.target) == (kind, ANN)
        assert job.details["user_agent"] == "Browser of Eve"

    @pytest.mark.parametrize("path", ["2fa/disable", "2fa/backup-codes"])
    def test_refused_change_sends_no_email(self, enrolled, jobs, path):
        enrolled.post(path, code=enrolled.wrong_code())

        assert jobs() == []

    def test_change_by_staff_sends_an_email_without_the_client(self, enrolled, jobs):
        with TestCase.captureOnCommitCallbacks(execute=True):
            enrolment.remove(lookup.get_person(the_user()), by=make_user("eve@example.com"))

        (job,) = jobs()
        assert (job.kind, job.target, job.details) == (
            enrolment.MAIL_DISABLED,
            ANN,
            {"by": "staff", "remaining": ""},
        )

    def test_address_that_is_not_verified_gets_no_email(self, enrolled, post, clock):
        post.jobs.clear()

        enrolled.post("2fa/backup-codes", code=enrolled.code())
        with TestCase.captureOnCommitCallbacks(execute=True):
            enrolment.remove(lookup.get_person(the_user()), by=make_user("eve@example.com"))

        assert post.jobs == []

    def test_jobs_contain_no_secret(self, ann, jobs, clock):
        made = ann.set_up()
        codes = [ann.code()]
        ann.post("2fa/verify", code=codes[0])
        clock.forward(seconds=30)
        codes.append(ann.code())
        codes += ann.post("2fa/backup-codes", code=codes[1]).data["backup_codes"]

        text = " ".join(map(str, jobs()))
        assert [secret for secret in (*codes, made["secret"]) if secret in text] == []


class TestTexts:
    SEEN = {  # noqa: RUF012
        "user_agent": "<b>Browser</b>\r\n of Eve",
        "ip_address": "203.0.113.7",
        "at": "2030-01-01T12:00:00+00:00",
    }

    @pytest.fixture(autouse=True)
    def _notification(self):
        with mounted("authservice.notification"):
            yield

    @pytest.fixture
    def deliver(self, mailoutbox):
        make_user()
        prove()

        def deliver(kind, language="", **details):
            message = Message(kind=kind, target=ANN, language=language, details=details)
            worker.deliver(message)
            return mailoutbox[-1]

        return deliver

    @pytest.mark.parametrize("kind", KINDS)
    def test_email_names_the_client_in_text_and_html(self, deliver, kind):
        mail = deliver(kind, **self.SEEN)
        [(html, _)] = mail.alternatives

        assert mail.to == [ANN]
        assert mail.subject.startswith("testserver: ")
        for words in ("203.0.113.7", "2030-01-01 12:00 UTC", "ask for a new password at once"):
            assert words in mail.body
            assert words in html
        assert "Device: an unknown browser\n" in mail.body
        assert "Eve" not in mail.body + html

    @pytest.mark.parametrize(
        ("details", "words"),
        [
            ({}, "Two-factor authentication was turned off"),
            ({"by": "staff"}, "Support turned two-factor authentication off"),
            ({"remaining": "factor"}, "A login still asks for another second factor."),
            ({"remaining": "set-up"}, "When you next log in, you set up a second factor again."),
            ({"by": "staff", "remaining": "factor"}, "Support removed the authenticator app"),
        ],
    )
    def test_email_names_the_actor_and_what_is_left(self, deliver, details, words):
        mail = deliver(enrolment.MAIL_DISABLED, **details)

        subject = "your authenticator app was removed"
        assert (subject in mail.subject) is ("remaining" in details)
        for body in (mail.body, mail.alternatives[0][0]):
            assert words in body
            assert ("No code is asked for any more" in body) is ("remaining" not in details)
            assert ("turn it on again" in body) is ("remaining" not in details)
            assert ("If it was you" in body) is ("by" not in details)

    def test_email_is_translated_to_german(self, deliver):
        mail = deliver(enrolment.MAIL_CODES_RENEWED, "de")

        assert mail.subject == "testserver: Neue Backup-Codes"
        assert "Die alten gelten nicht mehr." in mail.body
        assert "Waren Sie das nicht" in mail.alternatives[0][0]

    def test_every_template_is_tested(self):
        texts = Path(twofactor.__file__).parent / "templates/authservice/notification"

        assert {place.name for place in texts.iterdir()} == set(KINDS)
