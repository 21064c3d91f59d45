"""Puts the files beside `app` into the wheel, where app/kit/package_files.py finds them. The rest is in pyproject.toml.

`static/vendor` holds what pages load from npm packages: a build from a checkout fills it, with the npm of the build's own
environment, and the source distribution contains it.
"""

import shutil
import subprocess
import sys
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py
from setuptools.command.sdist import sdist

FOLDERS = ("templates", "static", "translations", "examples", "docs")


def add_vendored_files() -> None:
    if not Path("static", "vendor").is_dir():
        subprocess.run([sys.executable, str(Path("tools", "vendor.py"))], check=True)  # noqa: S603 - our own script


class PackWithFiles(sdist):
    def run(self) -> None:
        add_vendored_files()
        super().run()


class BuildWithFiles(build_py):
    def run(self) -> None:
        if not self.editable_mode:
            add_vendored_files()
        target = Path(self.build_lib)
        if not self.editable_mode:
            shutil.rmtree(target, ignore_errors=True)  # an earlier build may have left modules that are gone
        super().run()
        if not self.editable_mode:
            for name in FOLDERS:
                shutil.copytree(name, target / "app" / "files" / name, ignore=shutil.ignore_patterns("__pycache__"))
            shutil.copy("CHANGELOG.md", target / "app" / "files")


setup(cmdclass={"build_py": BuildWithFiles, "sdist": PackWithFiles})
