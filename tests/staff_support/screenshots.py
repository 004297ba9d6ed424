"""`python -m tests.staff_support.screenshots` makes the pictures of docs/support.rst.

It runs the test of the support page in a browser, which takes them on its way.
"""

from tests.hosts.runs import ROOT, holds
from tests.staff_support.test_staff_support import BROWSER

if __name__ == "__main__":
    folder = ROOT / "docs/images"
    folder.mkdir(exist_ok=True)
    holds(*BROWSER, SCREENSHOTS=str(folder))
    print("\n".join(sorted(str(path) for path in folder.glob("support-*.png"))))
