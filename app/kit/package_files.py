"""Paths of the files that are shipped with the program: `templates`, `static`, `translations`, `examples`, `docs` and the changelog.

A wheel holds them in `app/files` (setup.py puts them there); a checkout has them beside `app`.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

_PACKAGE: Final = Path(__file__).resolve().parent.parent
_INSTALLED: Final = _PACKAGE / "files"
_IS_CHECKOUT: Final = not _INSTALLED.is_dir()

HOME: Final = _PACKAGE.parent if _IS_CHECKOUT else _INSTALLED
TEMPLATES: Final = HOME / "templates"
STATIC: Final = HOME / "static"
TRANSLATIONS: Final = HOME / "translations"
EXAMPLES: Final = HOME / "examples"
DOCS: Final = HOME / "docs"
CHANGELOG: Final = HOME / "CHANGELOG.md"


def data_dir(env: Mapping[str, str]) -> Path:
    """Return the default folder for data: `var` of a checkout, and the user's data folder for an installed program."""
    if _IS_CHECKOUT:
        return HOME / "var"
    provided = env.get("XDG_DATA_HOME", "")
    return (Path(provided) if Path(provided).is_absolute() else Path.home() / ".local" / "share") / "gatehouse"
