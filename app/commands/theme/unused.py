"""Finds what a theme folder has and no page shows, and what of ours its style sheet names without a promise."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from app.contract.tenants.branding import Brand

RECORD = "ours.json"
"""The file of a theme folder with ours as they were when its templates were written (`changes.py`)."""
_READ = frozenset((".yaml", ".html", ".css", ".txt"))
"""Ends of the names of files that name others, and are read as they are."""
_NAMED_BY_PLACE = ("texts/", "templates/", "static/")


def unused(folder: Path, brand: Brand) -> Iterator[str]:
    """Yield a sentence for each unused file and each unused text of the theme's own, by name."""
    from app.contract.themes import theme_problems
    from app.identity.administration.configuration.file.theme.folder_walk import files
    from app.kit.text.tenant_texts import OWN

    found = {path.relative_to(folder).as_posix(): path for path in files(folder)}
    words = "\n".join(path.read_text("utf-8", "replace") for path in found.values() if path.suffix in _READ)
    for name, path in found.items():
        if name not in ("theme.yaml", RECORD) and not name.startswith(_NAMED_BY_PLACE) and path.name not in words:
            yield theme_problems.unused_sentence(name)
    for file in theme_problems.unused_files(brand):
        yield theme_problems.unused_sentence(f"static/{file}")
    shown = "\n".join(brand.templates.values())
    own = sorted({key for wordings in brand.texts.values() for key in wordings if key.startswith(OWN)})
    for key in own:
        if f'"{key}"' not in shown and f"'{key}'" not in shown:
            yield f"the text {key} isn’t used: no template shows it."


def unpromised(brand: Brand) -> Iterator[str]:
    """Yield a sentence for each name of ours in the style sheet that the contract does not promise."""
    from app.contract.themes import theme_contract

    for line, name in theme_contract.unpromised(brand.css):
        yield f"static/css/theme.css:{line}: the contract doesn’t promise {name}, so a later release can change it."
