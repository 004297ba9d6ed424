"""The pictures that `python -m tests.screenshots` makes."""

from tests.hosts.runs import ROOT

FOLDER = ROOT / "docs" / "images"
LARGEST = 150_000  # bytes
ALL_STATES = 2_000_000  # bytes of the pictures of the preview
PICTURES = {
    "api-docs.png",
    "console-desktop.png",
    "console-drawer.png",
    "console-phone.png",
    "overview.png",
    "pages-account.png",
    "pages-account-dark.png",
    "pages-phone.png",
    "pages-sign-in.png",
    "support-confirm-unlock.png",
    "support-log.png",
    "support-page.png",
}
