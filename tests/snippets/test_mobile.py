"""The script of docs/front_end/mobile.rst logs in, as an app without cookies does."""

import json
import subprocess

import pytest

from tests.snippets.blocks import of_page
from tests.support import needs
from tests.support.client import PASSWORD

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.slow,
    needs.program("node"),
]
ANN = "ann@example.com"
# Logs in twice, and prints the tokens and the value of the device of both logins.
RUN = """
const [api, email, password] = process.argv.slice(1);
const first = await logIn(email, password, null, api);
const second = await logIn(email, password, first.device, api);
console.log(JSON.stringify([first, second]));
"""


def test_app_logs_in_and_stays_a_known_device(live_server, api):
    api.post("signup", email=ANN, password=PASSWORD)
    [script] = [block.code for block in of_page("docs/front_end/mobile.rst")]
    code = script.replace("export ", "") + RUN

    printed = subprocess.check_output(
        ["node", "--input-type=module", "-e", code, f"{live_server.url}/auth", ANN, PASSWORD],
        text=True,
    )

    first, second = json.loads(printed)
    assert [login["data"]["status"] for login in (first, second)] == ["signed_in", "signed_in"]
    assert first["data"]["refresh_token"] != second["data"]["refresh_token"]
    assert first["device"]
    assert second["device"]
