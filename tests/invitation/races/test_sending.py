"""Concurrent invitations keep the limits, and leave one of each."""

from functools import partial

from authservice.core.errors import InvitationAlreadyExists
from authservice.core.messages import compose, limits
from authservice.invitation import platform_invitations
from authservice.invitation.models import PlatformInvitation
from authservice.invitation.platform_invitations import NewInvitation
from authservice.kernel.client import Client
from tests.admin_api.people import promote
from tests.races.crowd import SIZE, tally
from tests.support.messenger.post import query
from tests.support.people import the_user

FEW = 8


def test_same_invitation_sent_concurrently_exists_once(crowd, sender, rounds):
    for number in rounds:
        ann, email = sender(number), f"new{number}@example.com"

        answers = crowd.race([partial(ann.send, email)] * FEW)

        assert tally(answers) == {201: 1, "INVITATION_ALREADY_EXISTS": FEW - 1}
        assert PlatformInvitation.objects.filter(email=email).count() == 1


def test_same_invitation_sent_by_the_api_and_in_django_admin_exists_once(crowd, sender, rounds):
    for number in rounds:
        ann, email = sender(number), f"new{number}@example.com"
        new_invitation = NewInvitation(email=email, purpose="platform")
        user = the_user(f"ann{number}@example.com")

        def by_staff(new_invitation=new_invitation, user=user):
            try:
                return platform_invitations.invite_by_staff(new_invitation, user, Client())
            except InvitationAlreadyExists:
                return None

        results = crowd.race([by_staff] * FEW + [partial(ann.send, email)] * FEW)

        stored = [result for result in results[:FEW] if result]
        answers = tally(results[FEW:])
        assert len(stored) + answers.get(201, 0) == 1
        assert answers["INVITATION_ALREADY_EXISTS"] >= FEW - 1
        assert PlatformInvitation.objects.filter(email=email).count() == 1


def test_pending_invitations_of_an_address_never_exceed_the_limit(
    crowd, sender, rounds, invitation
):
    invitation(MAX_PENDING_PER_EMAIL=2)
    senders = [sender(number) for number in range(8)]
    for number in rounds:
        email = f"new{number}@example.com"

        answers = crowd.race([partial(each.send, email) for each in senders])

        assert tally(answers) == {201: 2, "INVITATION_MAX_PENDING": 6}


def test_invitations_of_a_sender_never_exceed_fifty_a_day(crowd, sender, configure):
    configure(THROTTLE={"ENABLED": True, "RATES": {"default": "9999/h", "signup": "9999/h"}})
    ann = sender(0)
    for number in range(40):
        ann.sent(f"first{number}@example.com")

    answers = crowd.race([partial(ann.send, f"bob{number}@example.com") for number in range(SIZE)])

    assert tally(answers) == {201: 10, "TOO_MANY_REQUESTS": SIZE - 10}


def test_recipient_gets_one_mail_a_day_of_a_sender(crowd, sender, configure, post):
    configure(THROTTLE={"ENABLED": True, "RATES": {"default": "9999/h", "signup": "9999/h"}})
    ann = sender(0)
    post.jobs.clear()

    answers = crowd.race([partial(ann.send, purpose=f"p{number}") for number in range(FEW)])

    assert tally(answers) == {201: 1, "TOO_MANY_REQUESTS": FEW - 1}
    assert len(post.jobs) == 1


def test_recipient_gets_at_most_half_of_the_mails_from_new_senders(crowd, sender, configure, post):
    configure(THROTTLE={"ENABLED": True, "RATES": {"default": "9999/h", "signup": "9999/h"}})
    senders = [sender(number) for number in range(20)]
    post.jobs.clear()

    answers = crowd.race([each.send for each in senders])

    assert tally(answers) == {201: 20}
    assert sum(answer.data["mailed"] for answer in answers) == limits.NEW_SENDERS.amount
    assert len(post.jobs) == limits.NEW_SENDERS.amount


def test_mails_composed_concurrently_leave_one_link_that_works(crowd, sender, post, rounds):
    for number in rounds:
        ann, email = sender(number), f"new{number}@example.com"
        ann.sent(email)
        made = crowd.race([partial(compose.compose, post.jobs[-1])] * 8)
        tokens = [query(each.context["link"].reveal())["token"] for each in made]

        answers = [ann.accept_as_new(token) for token in tokens]

        assert sorted(tally(answers).values()) == [1, 7]
        assert tally(answers)[200] == 1


def test_invitation_beside_the_deletion_of_its_sender_leaves_no_row(crowd, api, sender, rounds):
    root = sender(0, "root").token
    promote("root0@example.com")
    for number in rounds:
        ann, email = sender(number), f"new{number}@example.com"
        pk = the_user(f"ann{number}@example.com").pk
        delete = partial(api.request, "DELETE", f"admin/users/{pk}", token=root)

        sent, deleted = crowd.race([partial(ann.send, email), delete])

        assert deleted.status == 200
        assert sent.status == 201 or sent.code == "INVALID_TOKEN"
        assert not PlatformInvitation.objects.filter(email=email).exists()


def test_concurrent_resends_leave_one_link(crowd, sender, post, rounds):
    for number in rounds:
        ann, email = sender(number), f"new{number}@example.com"
        sent = ann.sent(email)
        post.jobs.clear()

        answers = crowd.race([partial(ann.resend, sent)] * 8)

        assert tally(answers) == {200: 8}
        assert sum(compose.compose(job) is not None for job in post.jobs) == 1
