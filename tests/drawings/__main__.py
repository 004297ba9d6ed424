"""`python -m tests.drawings` draws each text in docs/flows, for light and for dark pages."""

from tests.drawings.flows import FOLDER, drawn

if __name__ == "__main__":
    for old in FOLDER.glob("*.svg"):
        old.unlink()
    for name, picture in drawn().items():
        (FOLDER / name).write_text(picture)
