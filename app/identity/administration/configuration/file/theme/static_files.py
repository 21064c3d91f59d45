"""Reads `static/` of a theme folder: the style sheet, and the pictures and fonts, which are checked and named by their digests."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from app.identity.administration.configuration.file.theme import folder_walk
from app.identity.administration.configuration.file.yaml_document import ConfigurationProblem, YamlDocument
from app.kit.design import theme_file_names

STYLE_SHEET: Final = "css/theme.css"


def read(outer: YamlDocument, root: Path, name: str) -> dict[str, bytes]:
    """Return the content of each picture and font by its name; adds problems to the outer document, and leaves those files out.

    `folder_walk.problems` has accepted the folder.
    """
    reader = _Reader(outer, root, name)
    folder = root / "static"
    found = folder_walk.files(folder) if folder.is_dir() else ()
    files = {name: path for path in found if path != folder / STYLE_SHEET and (name := reader.name_of(path))}
    for one, other in theme_file_names.twins(files):
        reader.problem(one, f"expected names that differ in more than letter case; found {other}, too")
    sizes = {name: path.stat().st_size for name, path in files.items()}
    if sentence := theme_file_names.total_problem(sizes):
        reader.problem("", sentence)
        return {}
    return {name: content for name, path in files.items() if (content := reader.content(name, path)) is not None}


class _Reader:
    def __init__(self, outer: YamlDocument, root: Path, name: str) -> None:
        self._outer, self._root, self._name = outer, root, name

    def problem(self, name: str, sentence: str) -> None:
        """Add a problem of a file below `static/`."""
        shown = name.encode("utf-8", "backslashreplace").decode()
        file = Path(self._outer.file).parent / self._name / "static" / shown
        self._outer.problems.append(ConfigurationProblem(str(file), 1, "", sentence))

    def name_of(self, path: Path) -> str:
        """Return the name of a file that a theme may have; empty, with a problem, for another."""
        name = path.relative_to(self._root / "static").as_posix()
        if not theme_file_names.is_name(name):
            self.problem(name, f"expected {STYLE_SHEET}, {theme_file_names.EXPECTED_NAME}")
            return ""
        return name

    def content(self, name: str, path: Path) -> bytes | None:
        """Return the content of a file; None, with a problem, if it is not what its name says."""
        from app.identity.directory.tenants import theme_file_content  # noqa: PLC0415 - only themes with files need it
        from app.kit.images.image_converter import ImageConverter  # noqa: PLC0415 - as above

        if (size := path.stat().st_size) > theme_file_names.MAX_FILE_BYTES:
            self.problem(
                name, f"expected at most {theme_file_names.MAX_FILE_BYTES // 1024} kB; found {size // 1024} kB"
            )
            return None
        found = path.read_bytes()
        if sentence := theme_file_content.problem(name, found, ImageConverter()):
            self.problem(name, sentence)
            return None
        return found
