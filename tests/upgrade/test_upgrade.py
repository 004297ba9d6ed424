"""Every later version accepts the rows and the tokens of each recorded release."""

import pytest

from tests.hosts.runs import holds
from tests.release import ready
from tests.upgrade import files

INSIDE = ("tests/upgrade/inside", "--ds=tests.upgrade.settings")
WHAT_TO_DO = (
    "Users of a release would lose what they hold. Make the new code accept it, as"
    " docs/versioning.rst promises. Only while this version is not released: record its data again"
    " with `python -m tests.upgrade`, and commit it (docs/releasing.rst)."
)
RUNS = [
    pytest.param(
        release,
        module,
        # The formats of both are alike, so the quick suite tries one of them.
        marks=[] if module == "session" else [pytest.mark.slow],
        id=f"{release} {module}",
    )
    for release in files.releases()
    for module in files.LOGIN_MODULES
]


@pytest.mark.parametrize(("release", "module"), RUNS)
def test_rows_and_tokens_of_a_release_are_accepted(release, module):
    try:
        holds(*INSIDE, RELEASE=release, LOGIN_MODULE=module)
    except AssertionError as failed:
        raise AssertionError(f"{failed}\n{WHAT_TO_DO}") from None


@pytest.mark.parametrize("release", files.releases())
def test_migrations_of_a_release_stay_as_they_are(release):
    recorded = files.read(files.FOLDER / release / files.MIGRATIONS)
    present = files.migrations()

    changed = [path for path, digest in recorded.items() if present.get(path) != digest]

    assert changed == [], (
        f"{changed}: databases of release {release} have run these migrations. Restore them"
        " (`git checkout`), and put the change into a new migration. Only while this version is not"
        " released: record it again with `python -m tests.upgrade` (docs/releasing.rst)."
    )


def test_this_release_is_recorded():
    assert ready.version().rpartition(".")[0] in files.releases()
    assert len(files.migrations()) >= 6
