"""Settings of a host without the module."""

from tests.settings import *  # noqa: F403
from tests.settings import INSTALLED_APPS as ALL

MODULE = "authservice.twofactor"
# Passkeys are a second factor too, and stay one without this module only as a way to sign in.
INSTALLED_APPS = [app for app in ALL if app not in (MODULE, "authservice.passkeys")]
