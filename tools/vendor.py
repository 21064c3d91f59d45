"""Put the files that pages load from npm packages into `static/vendor`: `python -m tools.vendor`.

`package-lock.json` pins them; npm checks its downloads against the lock's digests. `make setup` runs this.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TARGET = ROOT / "static" / "vendor"
FILES = {
    "openapi-explorer": ("dist/browser/openapi-explorer.min.js", "LICENSE", "package.json"),
}
"""The served packages, each with the files that are copied: what a page loads, the licence, and the version."""


def pinned(name: str) -> str:
    lock = json.loads((ROOT / "package-lock.json").read_text(encoding="utf-8"))["packages"]
    return str(lock[f"node_modules/{name}"]["version"])


def present(folder: Path) -> str:
    """Return the version of the package in a folder; "" if it isn't there."""
    stated = folder / "package.json"
    return str(json.loads(stated.read_text(encoding="utf-8"))["version"]) if stated.is_file() else ""


def copy(modules: Path) -> None:
    for name, files in FILES.items():
        shutil.rmtree(TARGET / name, ignore_errors=True)
        (TARGET / name).mkdir(parents=True)
        for file in files:
            shutil.copyfile(modules / name / file, TARGET / name / Path(file).name)


def download(folder: Path) -> None:
    """Install the served packages alone, with the Node of .venv, which trusts the system's authorities as pip does."""
    for name in ("package.json", "package-lock.json"):
        shutil.copyfile(ROOT / name, folder / name)
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    command = ["npm", "ci", "--omit=dev", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]
    subprocess.run(command, cwd=folder, check=True, env={**os.environ, "PATH": path, "NODE_USE_SYSTEM_CA": "1"})


def main() -> int:
    requested = {name: pinned(name) for name in FILES}
    if all(present(TARGET / name) == version for name, version in requested.items()):
        return 0
    installed = ROOT / "node_modules"
    if all(present(installed / name) == version for name, version in requested.items()):
        copy(installed)
        return 0
    with tempfile.TemporaryDirectory(prefix="gatehouse-npm-") as folder:
        download(Path(folder))
        copy(Path(folder) / "node_modules")
    return 0


if __name__ == "__main__":
    sys.exit(main())
