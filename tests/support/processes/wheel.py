"""Gatehouse as its wheel installs it: into an environment that holds the locked dependencies and nothing else."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from tests.support.sources import ROOT, files

_PINNED = re.compile(r"^([a-z0-9][a-z0-9._-]*)==", re.MULTILINE)
PIP = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet"]


def build(folder: Path) -> Path:
    """Build the wheel from the source distribution of the repository's files, by the functions that pip calls (PEP 517)."""
    source = folder / "source"
    vendor = [path.relative_to(ROOT) for path in (ROOT / "static" / "vendor").rglob("*") if path.is_file()]
    for path in (*files(), *vendor):
        if path.parts[0] != "tests":
            (source / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / path, source / path)
    _build("sdist", source, folder)
    (archive,) = folder.glob("*.tar.gz")
    shutil.unpack_archive(archive, folder)
    _build("wheel", folder / archive.name.removesuffix(".tar.gz"), folder)
    shutil.rmtree(source)
    (wheel,) = folder.glob("*.whl")
    return wheel


def _build(kind: str, source: Path, folder: Path) -> None:
    program = f"import sys, setuptools.build_meta; setuptools.build_meta.build_{kind}(sys.argv[1])"
    subprocess.run([sys.executable, "-c", program, str(folder)], check=True, cwd=source, capture_output=True)


def install(wheel: Path, venv: Path) -> Path:
    """Install the wheel into a new environment without network, and return the environment's folder of commands."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(venv)], check=True)
    python = venv / "bin" / "python"
    how = ["--no-deps", "--no-index", "--no-compile"]  # a start compiles the loaded modules, half of all
    subprocess.run([*PIP, "--python", str(python), "install", *how, str(wheel)], check=True)
    (site,) = venv.glob("lib/python*/site-packages")
    for name in _PINNED.findall((ROOT / "requirements.lock").read_text()):
        try:
            listed = distribution(name).files or ()
        except PackageNotFoundError:  # only another system needs it
            continue
        for top in {path.parts[0] for path in listed} - {"..", "__pycache__"}:
            if not (site / top).exists():
                (site / top).symlink_to(Path(str(distribution(name).locate_file(top))))
    return python.parent


def environment(folder: Path) -> dict[str, str]:
    """Return an environment that knows neither the repository nor the user's folders."""
    environ = {name: value for name, value in os.environ.items() if not name.startswith(("GATEHOUSE_", "PYTHON"))}
    return {**environ, "HOME": str(folder), "XDG_DATA_HOME": str(folder / "data")}
