"""The guides of `docs/` and the changelog as pages: titles, the menu, and where links lead."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Final

from app.kit.package_files import CHANGELOG, DOCS
from app.reference.markdown import GuideSection, listed_targets, operation_key, plain, render, sections

AT: Final = "/docs/guides"
_TYPES: Final = {".png": "image/png", ".json": "application/json"}
_DEMO_HOST: Final = "localhost:8000"
_INDEX: Final = "README.md"


@dataclass(frozen=True)
class Guide:
    """A page of `docs/`; `name` is its path there without the suffix, and "" of the index."""

    name: str
    title: str
    text: str

    @property
    def address(self) -> str:
        """The path of its page."""
        return f"{AT}/{self.name}".rstrip("/")

    @cached_property
    def sections(self) -> tuple[GuideSection, ...]:
        """Its sections, the title's included."""
        return sections(self.text)


class Guides:
    """The guides, for one host.

    Args:
        operations: the address of each operation by `operation_key`, for code spans that name one.
        demo_host: replaces the host of examples; "" outside the demo.
    """

    def __init__(self, operations: Mapping[str, str], demo_host: str = "") -> None:
        self._operations = operations
        self._host = demo_host or _DEMO_HOST
        self._by_path = {path: self._guide(path) for path in (_INDEX, *_in_order())}

    @property
    def by_name(self) -> dict[str, Guide]:
        """The guides by name, in the order of the menu."""
        return {guide.name: guide for guide in self._by_path.values()}

    @cached_property
    def menu(self) -> dict[str, list[Guide]]:
        """The guides of the index by its headings, without those that another guide lists."""
        found: dict[str, list[Guide]] = {}
        for heading, target in listed_targets(self._by_path[_INDEX].text):
            if target in self._by_path:
                found.setdefault(heading, []).append(self._by_path[target])
        return found

    def below(self, guide: Guide) -> list[Guide]:
        """Return the guides that are listed below this one in the menu."""
        return [other for name, other in self.by_name.items() if guide.name and name.startswith(f"{guide.name}/")]

    @cached_property
    def files(self) -> dict[str, tuple[Path, str]]:
        """The pictures and data beside the guides, and their types, by the path of their address."""
        return {
            f"{AT}/{path.name.lower()}": (path, _TYPES[path.suffix])
            for path in sorted(DOCS.iterdir())
            if path.suffix in _TYPES
        }

    def drawn(self, guide: Guide) -> str:
        """Return a guide as HTML."""
        path = next(path for path, other in self._by_path.items() if other is guide)
        return render(guide.text, GuideLinks(self, f"docs/{path}"))

    def changelog(self) -> str:
        """Return the changelog's text."""
        return CHANGELOG.read_text(encoding="utf-8")

    def address_of(self, path: str) -> str:
        """Return the address of a file of the repository; "" if the reference doesn't serve it."""
        inner = path.removeprefix("docs/")
        if path.startswith("docs/") and inner in self._by_path:
            return self._by_path[inner].address
        known = {
            "docs": AT,
            "docs/quickstarts": f"{AT}/quickstarts",
            "CHANGELOG.md": "/docs/changelog",
            "README.md": "/docs",
        }
        file = f"{AT}/{inner.lower()}"
        return known.get(path, file if path.startswith("docs/") and file in self.files else "")

    def operation(self, code: str) -> str:
        """Return the address of the operation that a code span names; "" if it names none."""
        return self._operations.get(operation_key(code), "")

    def _guide(self, path: str) -> Guide:
        text = (DOCS / path).read_text(encoding="utf-8").replace(_DEMO_HOST, self._host)
        name = path.removesuffix(".md").removesuffix("README").rstrip("/")
        return Guide(name, plain(text.partition("\n")[0].lstrip("# ")), text)


@dataclass(frozen=True)
class GuideLinks:
    """The links of a file of the repository, as `app.reference.markdown` asks for them."""

    guides: Guides
    path: str

    def of_target(self, target: str) -> str:
        if "://" in target or target.startswith(("#", "mailto:")):
            return target
        file, _, fragment = target.partition("#")
        address = self.guides.address_of(posixpath.normpath(posixpath.join(posixpath.dirname(self.path), file)))
        return f"{address}#{fragment}" if address and fragment else address

    def of_code(self, code: str) -> str:
        return code if code.startswith("/docs") else self.guides.operation(code)


def _in_order() -> list[str]:
    """Return the paths of the guides that the index names, each followed by those that it lists itself."""
    found: list[str] = []
    for _, target in listed_targets((DOCS / _INDEX).read_text(encoding="utf-8")):
        if target.endswith(".md") and (DOCS / target).is_file():
            found.append(target)
        if target.endswith(_INDEX):
            folder = (DOCS / target).parent
            found += sorted(f"{folder.name}/{path.name}" for path in folder.glob("*.md") if path.name != _INDEX)
    return list(dict.fromkeys(path for path in found if not path.startswith("..")))
