"""Walks a theme folder before anything in it is read: refuses what would take long, lead out of the folder, or never end."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final

MAX_ENTRIES: Final = 1_000
"""Files and folders of a theme. Names that begin with a dot, such as `.git`, do not count and are not read."""
MAX_DEPTH: Final = 8
"""Folders within one another."""
MAX_FILE_MEGABYTES: Final = 5
MAX_YAML_KILOBYTES: Final = 128
"""Of theme.yaml and the texts of a language, which have at most 64 kB: each key that no theme has costs a search."""
MAX_PROBLEMS: Final = 50


def files(root: Path) -> Iterator[Path]:
    """Yield the files of a folder that `problems` accepts, by name; none of a folder that is not there."""
    for path in entries(root):
        if path.is_dir():
            yield from files(path)
        else:
            yield path


def entries(folder: Path) -> list[Path]:
    """Return what is directly in a folder that `problems` accepts, by name, without names that begin with a dot."""
    if not folder.is_dir():
        return []
    return sorted(path for path in folder.iterdir() if not path.name.startswith("."))


def problems(root: Path) -> list[tuple[str, str]]:
    """Return the paths below the folder that are refused, each with what is expected; at most `MAX_PROBLEMS`.

    The time is bounded by `MAX_ENTRIES`: no file is opened, and no link to a folder is followed.
    """
    found: list[tuple[str, str]] = []
    count, folders = 0, [root]
    while folders:
        folder = folders.pop()
        with os.scandir(folder) as scanned:
            for entry in scanned:
                if entry.name.startswith("."):
                    continue
                count += 1
                if count > MAX_ENTRIES or len(found) >= MAX_PROBLEMS:
                    return [*sorted(found), *_too_many(root, folder, count)]
                if (sentence := _problem(root, entry)) is not None:
                    found.append((_shown(Path(entry.path).relative_to(root)), sentence))
                elif entry.is_dir(follow_symlinks=False):
                    folders.append(Path(entry.path))
    return sorted(found)


def _too_many(root: Path, folder: Path, count: int) -> list[tuple[str, str]]:
    if count <= MAX_ENTRIES:
        return []
    place = _shown(folder.relative_to(root)) if folder != root else ""
    return [
        (place, f"expected at most {MAX_ENTRIES:,} files and folders in a theme; found more: delete what no page needs")
    ]


def _problem(root: Path, entry: os.DirEntry[str]) -> str | None:
    """Return what is expected in place of an entry; None for one that can be read."""
    if not entry.name.isprintable():
        return "expected a name in UTF-8 without control characters: rename it"
    if len(Path(entry.path).relative_to(root).parts) > MAX_DEPTH:
        return f"expected at most {MAX_DEPTH} folders within one another"
    if entry.is_symlink():
        return _link_problem(root, entry)
    if entry.is_dir(follow_symlinks=False):
        return None
    if not entry.is_file(follow_symlinks=False):
        return "expected a file or a folder; found a device, a pipe or a socket: delete it"
    return _size_problem(entry)


def _link_problem(root: Path, entry: os.DirEntry[str]) -> str | None:
    try:
        is_file = entry.is_file()
    except OSError:  # a loop
        is_file = False
    if not is_file:
        return "expected a link to a file; found one to a folder, to nothing or to itself: put the file here"
    if not Path(os.path.realpath(entry.path)).is_relative_to(root):
        return "expected a link within the theme folder; found one that leads out of it: put the file here"
    return _size_problem(entry)


def _size_problem(entry: os.DirEntry[str]) -> str | None:
    megabytes = entry.stat().st_size / 1024 / 1024
    if Path(entry.path).suffix == ".yaml" and megabytes > MAX_YAML_KILOBYTES / 1024:
        return f"expected at most {MAX_YAML_KILOBYTES} kB; found {megabytes * 1024:,.0f} kB"
    if megabytes <= MAX_FILE_MEGABYTES:
        return None
    return f"expected at most {MAX_FILE_MEGABYTES} MB; found {megabytes:,.1f} MB"


def _shown(path: Path) -> str:
    """Return a path as a terminal shows it, whatever its bytes are."""
    text = path.as_posix().encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    return "".join(letter if letter.isprintable() else repr(letter)[1:-1] for letter in text)
