"""Put the files that pages load from npm packages into `static/vendor`: `python -m tools.vendor`.

`package-lock.json` pins them, and each download is compared with the lock's digest. `make run`, `make setup` and a build from a
checkout run this; the repository contains no third-party code. Needs npm only if the files are missing.
"""

import base64
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TARGET = ROOT / "static" / "vendor"
FILES = {
    "openapi-explorer": ("dist/browser/openapi-explorer.min.js", "LICENSE", "package.json"),
}
"""The served packages, each with the files that are copied: what a page loads, the licence, and the version."""


def pinned(name: str) -> dict[str, str]:
    """Return what the lock states of a package, with `version` and `integrity` (W3C Subresource Integrity)."""
    lock = json.loads((ROOT / "package-lock.json").read_text(encoding="utf-8"))["packages"]
    stated: dict[str, str] = lock[f"node_modules/{name}"]
    return stated


def present(folder: Path) -> str:
    """Return the version of the package in a folder; "" if it isn't there."""
    stated = folder / "package.json"
    return str(json.loads(stated.read_text(encoding="utf-8"))["version"]) if stated.is_file() else ""


def copy(name: str, package: Path) -> None:
    shutil.rmtree(TARGET / name, ignore_errors=True)
    (TARGET / name).mkdir(parents=True)
    for file in FILES[name]:
        shutil.copyfile(package / file, TARGET / name / Path(file).name)


def download(name: str, folder: Path) -> Path:
    """Return the folder of the package, which npm gets alone, without its dependencies and scripts.

    Raises SystemExit: npm is missing or fails, or the package is not the one of the lock.
    """
    stated = pinned(name)
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    npm = shutil.which("npm", path=path)
    if npm is None:
        sys.exit(f"{name} {stated['version']} is missing in static/vendor, and getting it needs npm.")
    command = [
        npm,
        "pack",
        f"{name}@{stated['version']}",
        "--ignore-scripts",
        "--silent",
        "--pack-destination",
        str(folder),
    ]
    environ = {
        **os.environ,
        "PATH": path,
        "NODE_USE_SYSTEM_CA": "1",
    }  # which trusts the system's authorities as pip does
    subprocess.run(command, cwd=folder, check=True, env=environ, stdout=subprocess.DEVNULL)
    (archive,) = folder.glob("*.tgz")
    algorithm, _, digest = stated["integrity"].partition("-")
    if base64.b64encode(hashlib.new(algorithm, archive.read_bytes()).digest()).decode() != digest:
        sys.exit(f"{archive.name} is not the package that package-lock.json names.")
    with tarfile.open(archive) as packed:
        for file in FILES[name]:
            target = folder / file
            target.parent.mkdir(parents=True, exist_ok=True)
            member = packed.extractfile(f"package/{file}")
            if member is None:
                sys.exit(f"{archive.name} lacks {file}.")
            target.write_bytes(member.read())
    return folder


def main() -> int:
    for name in FILES:
        version, installed = pinned(name)["version"], ROOT / "node_modules" / name
        if present(TARGET / name) == version:
            continue
        if present(installed) == version:
            copy(name, installed)
            continue
        with tempfile.TemporaryDirectory(prefix="gatehouse-npm-") as folder:
            copy(name, download(name, Path(folder)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
