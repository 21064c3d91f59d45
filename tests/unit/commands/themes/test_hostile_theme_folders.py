"""Theme folders that would take long, lead out of the folder or never end: refused with the file named, before anything is read."""

from __future__ import annotations

import os
import socket
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest

from app.identity.administration.configuration.file.theme.folder_walk import MAX_ENTRIES, files
from tests.support.processes.command_line import Run, refused

MEBIBYTE = 1024 * 1024


@pytest.fixture
def theme(tmp_path: Path) -> Path:
    folder = tmp_path / "hazel"
    (folder / "texts").mkdir(parents=True)
    (folder / "theme.yaml").write_text("color: '#0a7d55'")
    (tmp_path / "secret.yaml").write_text("continue: stolen")
    return folder


def sparse(path: Path, megabytes: int) -> None:
    """Write a file of this size that takes no space."""
    with path.open("wb") as file:
        file.truncate(megabytes * MEBIBYTE)


def loop(theme: Path) -> None:
    (theme / "static").mkdir()
    (theme / "static" / "a").symlink_to(theme / "static")


def links_through(theme: Path) -> None:
    (theme / "b").symlink_to("../secret.yaml")
    (theme / "a.svg").symlink_to("b")


def linked_tokens(theme: Path) -> None:
    (theme / "theme.yaml").unlink()
    (theme / "theme.yaml").symlink_to("../secret.yaml")


def many(theme: Path) -> None:
    (theme / "static").mkdir()
    for number in range(10_000):
        (theme / "static" / f"{number}.png").touch()


def deep(theme: Path) -> None:
    folder = theme / "static"
    for _ in range(100):
        folder /= "a"
    folder.mkdir(parents=True)


def unix_socket(theme: Path) -> None:
    here = Path.cwd()
    os.chdir(theme)  # the path of a socket has at most 107 bytes
    try:
        with socket.socket(socket.AF_UNIX) as made:
            made.bind("s")
    finally:
        os.chdir(here)


LINK = "expected a link"
HOSTILE: dict[str, tuple[Callable[[Path], object], str, str]] = {
    "10,000 files": (many, "/static", "expected at most 1,000 files and folders in a theme"),
    "a large file": (lambda theme: sparse(theme / "a.bin", 100), "/a.bin", "expected at most 5 MB; found 100.0 MB"),
    "large texts": (lambda theme: sparse(theme / "texts" / "en.yaml", 100), "/texts/en.yaml", "expected at most 128 kB"),
    "a large theme.yaml": (lambda theme: sparse(theme / "theme.yaml", 100), "/theme.yaml", "expected at most 128 kB"),
    "a link out": (lambda theme: (theme / "a.svg").symlink_to("/etc/hostname"), "/a.svg", f"{LINK} within"),
    "a relative link out": (lambda theme: (theme / "a.svg").symlink_to("../secret.yaml"), "/a.svg", f"{LINK} within"),
    "a link through links": (
        links_through, "/a.svg", f"{LINK} within",
    ),
    "a linked theme.yaml": (
        linked_tokens, "/theme.yaml", LINK,
    ),
    "a link to itself": (lambda theme: (theme / "a").symlink_to("a"), "/a", f"{LINK} to a file"),
    "a link to nothing": (lambda theme: (theme / "a").symlink_to("none"), "/a", f"{LINK} to a file"),
    "a loop of folders": (loop, "/static/a", f"{LINK} to a file"),
    "a link to a folder": (lambda theme: (theme / "templates").symlink_to("/etc"), "/templates", f"{LINK} to a file"),
    "a link to a device": (lambda theme: (theme / "a.svg").symlink_to("/dev/zero"), "/a.svg", f"{LINK} to a file"),
    "deep folders": (deep, "/static/a/a/a/a/a/a/a/a", "expected at most 8 folders within one another"),
    "a pipe": (lambda theme: os.mkfifo(theme / "texts" / "en.yaml"), "/texts/en.yaml", "expected a file or a folder"),
    "a socket": (unix_socket, "/s", "expected a file or a folder"),
    "a name in Latin-1": (
        lambda theme: Path(os.fsdecode(bytes(theme) + b"/\xe9.svg")).touch(), "/\\xe9.svg", "expected a name in UTF-8",
    ),
    "a name with a line break": (lambda theme: (theme / "a\nb").touch(), "/a\\nb", "expected a name in UTF-8"),
    "a name that clears the terminal": (lambda theme: (theme / "\x1b[2J").touch(), "/\\x1b[2J", "expected a name in UTF-8"),
}  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_folder_is_refused_with_its_file(run: Run, theme: Path, name: str) -> None:
    make, place, sentence = HOSTILE[name]
    make(theme)
    run("theme", "texts", "no such words")  # imports what commands share
    tracemalloc.start()
    try:
        said = refused(run("theme", "check", str(theme)))
        assert tracemalloc.get_traced_memory()[1] < 16 * MEBIBYTE
    finally:
        tracemalloc.stop()
    assert f"{theme}{place}:1: {sentence}" in said
    assert "stolen" not in said
    assert len(said) < 20_000


TEXTS = "texts/en.yaml"
HOSTILE_FILES = {
    "aliases that grow": (TEXTS, "a: &a [x]\nb: [*a, *a]\n", "1: expected no anchors (&) or aliases (*)"),
    "aliases that grow in theme.yaml": (
        "theme.yaml",
        "links: &a {b: *a}\n",
        "1: expected no anchors (&) or aliases (*)",
    ),
    "deep lists": (TEXTS, "a: " + "[" * 100_000, "1: expected at most 20 levels"),
    "deep maps": ("theme.yaml", "a: " + "{a: " * 30_000, "1: expected at most 20 levels"),
    "deep indents": (TEXTS, "".join(f"{' ' * depth}a:\n" for depth in range(400)), "expected at most 20 levels"),
    "a tag": (TEXTS, "a: !!python/object/apply:os.system ['true']", "1: expected no tags"),
    "many keys": (TEXTS, "".join(f"a{number}: b\n" for number in range(8_000)), "expected at most 64 kB of texts"),
    "as many wrong keys as fit": (
        TEXTS,
        "".join(f"a{number}: b\n" for number in range(4_000)),
        "50: a49: expected a key of a text",
    ),
    "two documents": (TEXTS, "continue: a\n---\ncontinue: b\n", "2: expected one document"),
    "no UTF-8": (TEXTS, "continue: \udce9\n", "1: expected UTF-8 text"),
    "no UTF-8 in theme.yaml": ("theme.yaml", "\ncolor: '\udcff'\n", "2: expected UTF-8 text"),
    "NUL": (TEXTS, 'continue: "a\\0b"\n', "1: expected text without NUL"),
    "another folder": ("theme.yaml", "logo: ../../../../etc/hostname.svg", "1: logo: expected an svg"),
    "an absolute path": ("theme.yaml", "logo: //etc/hostname.svg", "1: logo: expected"),
}


@pytest.mark.parametrize("name", HOSTILE_FILES)
def test_hostile_file_is_refused_with_its_line(run: Run, theme: Path, name: str) -> None:
    place, content, sentence = HOSTILE_FILES[name]
    (theme / place).write_bytes(content.encode("utf-8", "surrogateescape"))
    said = refused(run("theme", "check", str(theme)))
    assert f"{theme}/{place}:" in said
    assert sentence in said
    assert len(said) < 20_000


def test_folder_of_a_repository_is_read(theme: Path, run: Run) -> None:
    (theme / ".git" / "objects").mkdir(parents=True)
    for number in range(MAX_ENTRIES + 1):
        (theme / ".git" / "objects" / str(number)).touch()
    (theme / "en").write_text("continue: Go on")
    (theme / "texts" / "en.yaml").symlink_to("../en")
    (theme / "texts" / ".DS_Store").write_text("x")
    (theme / "texts" / ".x").mkdir()
    os.mkfifo(theme / "texts" / ".x" / "en.yaml")
    (theme / "templates").mkdir(exist_ok=True)
    (theme / "templates" / ".DS_Store").write_text("x")
    assert run("theme", "check", str(theme), "--pages", "ForgotPage").exit_code == 0
    assert [path.name for path in files(theme)] == ["en", "en.yaml", "theme.yaml"]
