"""`python -W ignore -m tests.oauth.openid_process`: an OpenID provider in a process of its own,
since it is built on deprecated parts of Authlib, and warnings are errors in the tests.

Prints its port, and ends when its standard input is closed.
"""

import logging
import sys

from oidc_provider_mock import run_server_in_thread

if __name__ == "__main__":
    logging.disable()
    with run_server_in_thread(require_client_registration=True, require_nonce=True) as server:
        print(server.server_port, flush=True)
        sys.stdin.read()
