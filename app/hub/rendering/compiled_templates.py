"""Stores compiled templates beside Python's bytecode: compiling them took a tenth of the time to the first page."""

from __future__ import annotations

import contextlib
import hashlib
import os
import sys
import tempfile
from importlib.util import cache_from_source
from pathlib import Path

from jinja2 import BytecodeCache, Environment
from jinja2.bccache import Bucket

from app.kit.package_files import TEMPLATES


class CompiledTemplates(BytecodeCache):
    """A Jinja bytecode cache that follows PYTHONPYCACHEPREFIX and PYTHONDONTWRITEBYTECODE. Jinja recompiles entries of another
    version of Jinja, Python or the template.
    """

    def __init__(self, environment: Environment) -> None:
        facts = (
            environment.trim_blocks,
            environment.lstrip_blocks,
            getattr(environment, "newstyle_gettext", False),
            sorted(environment.extensions),
        )
        self._of_options = repr(facts)
        self._folder = Path(cache_from_source(str(TEMPLATES / "template.py"))).parent

    def get_cache_key(self, name: str, filename: str | None = None) -> str:
        """Return a key from the template and the environment options that change its compiled code."""
        return hashlib.sha256(f"{name}|{filename}|{self._of_options}".encode()).hexdigest()[:32]

    def load_bytecode(self, bucket: Bucket) -> None:
        """Read the stored bytecode, if there is any."""
        with contextlib.suppress(OSError), self._path(bucket).open("rb") as file:
            bucket.load_bytecode(file)

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Store the bytecode if the folder is writable; another process never reads a partial file."""
        if sys.dont_write_bytecode:
            return
        with contextlib.suppress(OSError):
            self._folder.mkdir(parents=True, exist_ok=True)
            handle, unfinished = tempfile.mkstemp(dir=self._folder)
            try:
                with os.fdopen(handle, "wb") as file:
                    bucket.write_bytecode(file)
                Path(unfinished).chmod(0o644)
                Path(unfinished).replace(self._path(bucket))
            except BaseException:
                Path(unfinished).unlink(missing_ok=True)
                raise

    def _path(self, bucket: Bucket) -> Path:
        return self._folder / f"{bucket.key}.{sys.implementation.cache_tag}.jinja"


def compile_all(environment: Environment) -> int:
    """Compile every page's template, for an image with a read-only file system; return their number."""
    names = environment.list_templates(
        filter_func=lambda name: name.endswith(".html") and not name.startswith("mails/")
    )
    for name in names:
        environment.get_template(name)
    return len(names)
