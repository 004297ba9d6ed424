"""The Next.js app of docs/front_end/nextjs.rst, with the packages whose types it is checked with.

It is not built: that takes a minute, and needs a compiler for each platform.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import tempfile
from pathlib import Path

from tests.clients import npm
from tests.snippets.blocks import of_page

PAGE = "docs/front_end/nextjs.rst"
LANGUAGES = ("ts", "tsx")
_PACKAGES = {
    "@types/node": "20.19.0",
    "@types/react": "19.3.0",
    "next": "16.4.6",
    "react": "19.3.1",
    "react-dom": "19.3.1",
    "server-only": "0.0.1",
}
# The compiler options that `next build` writes into a new app, and strict checks.
_OPTIONS = {
    "allowJs": False,
    "esModuleInterop": True,
    "jsx": "react-jsx",
    "lib": ["dom", "dom.iterable", "esnext"],
    "module": "esnext",
    "moduleResolution": "bundler",
    "noEmit": True,
    "noUncheckedIndexedAccess": True,
    "noUnusedLocals": True,
    "skipLibCheck": True,
    "strict": True,
    "target": "ES2022",
    "types": ["node"],
}


def files() -> dict[str, str]:
    """The files of the app: their paths, which are in their first lines, and their code."""
    blocks = [block.code for block in of_page(PAGE) if block.language in LANGUAGES]
    return {code.partition("\n")[0].removeprefix("// "): code for code in blocks}


def packages() -> Path:
    """The `node_modules` of an app, installed by the first call of all processes."""
    manifest = json.dumps({"private": True, "dependencies": _PACKAGES})
    key = hashlib.sha256(manifest.encode()).hexdigest()[:16]
    cache = Path(tempfile.gettempdir(), f"authservice-nextjs-{os.getuid()}-{key}")
    cache.mkdir(mode=0o700, exist_ok=True)
    with (cache / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (cache / "installed").exists():
            (cache / "package.json").write_text(manifest)
            # The optional packages are compilers, which only a build needs.
            npm.run("npm", "install", "--ignore-scripts", "--omit=optional", folder=cache)
            (cache / "installed").touch()
    return cache / "node_modules"


def write(folder: Path, client: Path) -> None:
    """Write the app into an empty folder; `client` is the folder of the built client package."""
    for name, code in files().items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(code)
    (folder / "tsconfig.json").write_text(json.dumps({"compilerOptions": _OPTIONS}))
    modules = folder / "node_modules"
    modules.mkdir()
    for package in packages().iterdir():
        (modules / package.name).symlink_to(package)
    (modules / "@authservice").mkdir()
    (modules / "@authservice" / "client").symlink_to(client)
