"""Compiled templates lie beside the program's bytecode: compiling them took a tenth of the time until the first page."""

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
    """Keeps what Jinja makes of each template, where and when Python keeps bytecode: PYTHONPYCACHEPREFIX and
    PYTHONDONTWRITEBYTECODE say so. Jinja compiles anew what another version of Jinja, Python or the template left.
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
        """Return a key by template and by the options that change what Jinja makes of it."""
        return hashlib.sha256(f"{name}|{filename}|{self._of_options}".encode()).hexdigest()[:32]

    def load_bytecode(self, bucket: Bucket) -> None:
        """Read what is kept, if there is any."""
        with contextlib.suppress(OSError), self._path(bucket).open("rb") as file:
            bucket.load_bytecode(file)

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Keep it, if the folder may be written; another process never reads half a file."""
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
    """Compile the template of every page, for an image whose files no process may write; return how many there are."""
    names = environment.list_templates(
        filter_func=lambda name: name.endswith(".html") and not name.startswith("mails/")
    )
    for name in names:
        environment.get_template(name)
    return len(names)
