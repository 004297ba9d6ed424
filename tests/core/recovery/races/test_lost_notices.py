"""Several processes look for lost notices at the same time."""

from datetime import timedelta

from django.utils import timezone

from authservice.core.messages import security_notice
from authservice.core.models import OneTimeToken
from tests.core.recovery.thief import THIEFS_PHONE
from tests.support.flows import PHONE, prove


def test_lost_notice_is_sent_again_by_one_of_several_processes(crowd, api, post, rounds):
    token = api.sign_up(phone_number=PHONE)["access_token"]
    prove()
    api.request("PUT", "profile", {"phone": THIEFS_PHONE}, token=token)
    rows = OneTimeToken.objects.filter(purpose="secure-account")
    for _ in rounds:
        post.jobs.clear()
        ago = timezone.now() - timedelta(hours=1)
        assert rows.update(resend_at=ago, created_at=ago) == 1

        numbers = crowd.race([security_notice.send_again] * 8)

        assert sum(numbers) == 1
        assert len(post.jobs) == 1
