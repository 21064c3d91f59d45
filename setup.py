"""Puts the files beside `app` into the wheel, where app/kit/package_files.py finds them. The rest is in pyproject.toml.

`static/vendor` holds what pages load from npm packages; `make setup` fills it, and the source distribution contains it.
"""

import shutil
import sys
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

FOLDERS = ("templates", "static", "translations", "examples", "docs")


class BuildWithFiles(build_py):
    def run(self) -> None:
        if not self.editable_mode and not Path("static", "vendor").is_dir():
            sys.exit("static/vendor is missing: run 'make setup' first. It installs what pages load from npm packages.")
        target = Path(self.build_lib)
        if not self.editable_mode:
            shutil.rmtree(target, ignore_errors=True)  # an earlier build may have left modules that are gone
        super().run()
        if not self.editable_mode:
            for name in FOLDERS:
                shutil.copytree(
                    name, target / "app" / "files" / name, ignore=shutil.ignore_patterns("__pycache__", "*.mo")
                )
            shutil.copy("CHANGELOG.md", target / "app" / "files")


setup(cmdclass={"build_py": BuildWithFiles})
