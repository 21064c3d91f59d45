"""Writes a brand as a theme folder, from which `read_folder.py` reads the same brand."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import yaml

from app.contract.tenants.branding import LOGO_TYPES, MAX_LOGO_BYTES, Brand
from app.identity.administration.configuration.file.theme import folder_walk
from app.identity.administration.configuration.file.theme.tree import PLACES
from app.identity.administration.configuration.file.yaml_document import ConfigurationError, ConfigurationProblem
from app.identity.administration.theme_versions.history import stored
from app.kit.design import theme_file_names

NO_FILES: Final[Mapping[str, bytes]] = {}
_ENDINGS: Final = {media_type: ending for ending, media_type in reversed([*LOGO_TYPES.items()])}
_DATA: Final = re.compile(r"data:([a-z/+]+);base64,(.*)", re.DOTALL)
_LOGOS: Final = {"logo": "logo", "logo_dark": "logo-dark"}
_STATIC: Final = PLACES["files"]
_WRITTEN: Final = (
    "theme.yaml",
    f"{PLACES['texts']}/*.yaml",
    PLACES["css"],
    *(f"{_STATIC}/{folder}/*" for folder in theme_file_names.FOLDERS),
)


def files(brand: Brand, contents: Mapping[str, bytes]) -> dict[str, bytes]:
    """Return the files of a brand's folder by their paths within it; what it does not set is left out.

    `contents`: those of its pictures and fonts by their names.
    """
    values = stored(brand)
    beside = {key: values.pop(key, None) for key in PLACES}
    found = {f"{PLACES['texts']}/{tag}.yaml": _yaml(texts) for tag, texts in (beside["texts"] or {}).items() if texts}
    found |= {f"{PLACES['templates']}/{name}": text.encode() for name, text in (beside["templates"] or {}).items()}
    if beside["css"]:
        found[PLACES["css"]] = beside["css"].encode()
    found |= {f"{_STATIC}/{name}": content for name, content in contents.items()}
    found |= _take_logos(values)
    return {"theme.yaml": _yaml(values), **found}


def write(folder: Path, brand: Brand, contents: Mapping[str, bytes] = NO_FILES) -> None:
    """Write a brand's folder; files of a theme that the brand has not are removed, all others stay.

    Raises:
        ConfigurationError: the folder has what no theme can have, such as a link that leads out of it: nothing is written.
        OSError: a file could not be written.
    """
    folder = folder.resolve()
    if folder.is_dir() and (refused := folder_walk.problems(folder)):
        raise ConfigurationError(
            [ConfigurationProblem(str(folder / path), 1, "", sentence) for path, sentence in refused]
        )
    wanted = {folder / name: content for name, content in files(brand, contents).items()}
    for path in [*folder_walk.files(folder)]:
        if path.is_symlink() or (path not in wanted and _is_of_theme(path.relative_to(folder))):
            path.unlink()
    for path, content in wanted.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def _is_of_theme(path: Path) -> bool:
    return path.parts[0] == PLACES["templates"] or any(path.match(pattern) for pattern in _WRITTEN)


def _take_logos(values: dict[str, Any]) -> dict[str, bytes]:
    """Return the files of the logos, which their keys then name; what a file cannot be stays a data: URL."""
    found: dict[str, bytes] = {}
    for key, name in _LOGOS.items():
        match = _DATA.fullmatch(values.get(key) or "")
        ending = _ENDINGS.get(match[1]) if match else None
        content = _decoded(match[2]) if match and ending else None
        if content is not None and len(content) + sum(map(len, found.values())) <= MAX_LOGO_BYTES:
            values[key] = f"{name}.{ending}"
            found[values[key]] = content
    return found


def _decoded(text: str) -> bytes | None:
    """Return what base64 says; None if its spelling is not the one that a file would get."""
    try:
        content = base64.b64decode(text, validate=True)
    except binascii.Error:
        return None
    return content if content and base64.b64encode(content).decode() == text else None


def _yaml(value: Any) -> bytes:
    return yaml.safe_dump(value, sort_keys=False, allow_unicode=True, width=120).encode()
