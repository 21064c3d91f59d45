"""Keep translations/ true to the sources: `python -m tools.translations update|check`.

`check` fails when a sentence of the sources is not in messages.pot, when a locale lacks a sentence or a plural form, guesses it
(fuzzy) or keeps a stale one, when a translation drops a placeholder, when Arabic plural forms are swapped, or when a sentence
has no key in keys.json.
"""

import io
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from babel.messages.catalog import Catalog, Message
from babel.messages.extract import extract_from_dir, extract_python
from babel.messages.pofile import read_po, write_po

from tools import text_keys

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "translations"
TEMPLATE = FOLDER / "messages.pot"
KEYWORDS = {
    "_": None,
    "_l": None,
    "_n": (1, 2),
    "gettext": None,
    "ngettext": (1, 2),
    "lazy_gettext": None,
    "lazy_ngettext": (1, 2),
    "pgettext": ((1, "c"), 2),
    "npgettext": ((1, "c"), 2, 3),
    "lazy_pgettext": ((1, "c"), 2),
}
_MARKED = re.compile(rf"\b(?:{'|'.join(KEYWORDS)})\s*\(".encode())
PLACEHOLDER = re.compile(r"%\(\w+\)[sd]|\{\w*\}")
ARABIC_FORMS = 6
COUNTED_ACCUSATIVE = re.compile(r"%\(\w+\)[sd] \w+\u064b\u0627")  # "11 يومًا"; after 100 it is "يوم"


def _python(file: IO[bytes], *what: Any, **options: Any) -> Iterator[Any]:
    """Yield the marked sentences of a Python file as Babel does. To find that a file has none, Babel reads every token."""
    if _MARKED.search(file.read()):
        file.seek(0)
        yield from extract_python(file, *what, **options)


SOURCES: dict[str, tuple[str, Any]] = {"app": ("**.py", _python), "templates": ("**", "jinja2")}


def extracted() -> Catalog:
    """Every sentence that the sources hand to gettext, in the order of the files."""
    catalog = Catalog(project="Gatehouse", version="", charset="utf-8")
    for top, method in SOURCES.items():
        found = extract_from_dir(ROOT / top, [method], keywords=KEYWORDS)
        for name, _line, message, comments, context in sorted(found, key=lambda row: (row[0], row[1])):
            # Line numbers are left out: they would change the file with every edit of other lines.
            catalog.add(message, None, [(f"{top}/{name}", 0)], auto_comments=comments, context=context)
    return catalog


def locale_files() -> list[Path]:
    return sorted(FOLDER.glob("*/LC_MESSAGES/messages.po"))


def read(path: Path) -> Catalog:
    with path.open("rb") as file:
        return read_po(file, locale=None if path == TEMPLATE else path.parent.parent.name)


def written(catalog: Catalog) -> bytes:
    out = io.BytesIO()
    write_po(out, catalog, width=120, omit_header=False, sort_by_file=True, ignore_obsolete=True, include_lineno=False)
    # The dates say nothing that git does not know, and would make every run a difference.
    return re.sub(rb'^"(POT-Creation-Date|PO-Revision-Date|Generated-By):.*\n', b"", out.getvalue(), flags=re.MULTILINE)


def update() -> None:
    """Bring messages.pot and every locale up to the sources; new sentences arrive untranslated, never guessed."""
    template = extracted()
    TEMPLATE.parent.mkdir(exist_ok=True)
    text_keys.update(read(TEMPLATE) if TEMPLATE.exists() else template, template)
    TEMPLATE.write_bytes(written(template))
    for path in locale_files():
        catalog = read(path)
        catalog.update(template, no_fuzzy_matching=True)
        path.write_bytes(written(catalog))


def keys(catalog: Catalog) -> set[tuple[str, str | None]]:
    return {(singular(message), message.context) for message in catalog if message.id}


def singular(message: Message) -> str:
    return message.id if isinstance(message.id, str) else message.id[0]


def placeholder_problem(message: Message, text: str) -> str | None:
    ids = (message.id,) if isinstance(message.id, str) else tuple(message.id)
    allowed = set().union(*(PLACEHOLDER.findall(item_id) for item_id in ids))
    strange = set(PLACEHOLDER.findall(text)) - allowed
    if strange:
        return f"has placeholders that the source lacks: {', '.join(sorted(strange))}"
    # A plural form may leave the number out ("one day"); a sentence without plurals may not.
    lost = allowed - set(PLACEHOLDER.findall(text)) if isinstance(message.id, str) else set()
    return f"lost its placeholders: {', '.join(sorted(lost))}" if lost else None


def message_problem(message: Message) -> str | None:
    texts = (message.string,) if isinstance(message.string, str) else tuple(message.string or ())
    if not texts or not all(texts):
        return "is not translated"
    if message.fuzzy:
        return "is only guessed (fuzzy)"
    if any(len(text) > 40 and text[: len(text) // 2] == text[len(text) // 2 :] for text in texts):
        return "says everything twice"
    if len(texts) == ARABIC_FORMS and COUNTED_ACCUSATIVE.search(texts[4]) and not COUNTED_ACCUSATIVE.search(texts[5]):
        return "has its forms for 100 and for 11 to 99 swapped"
    return next((problem for text in texts if (problem := placeholder_problem(message, text))), None)


def problems() -> Iterator[str]:
    catalog = extracted()
    sources = keys(catalog)
    if not sources:
        return
    yield from text_keys.problems(catalog)
    if not TEMPLATE.exists() or keys(read(TEMPLATE)) != sources:
        yield "translations/messages.pot is not what the sources say: run 'make translations'"
    for path in locale_files():
        catalog, name = read(path), path.relative_to(ROOT)
        yield from (f"{name}: {text!r} is missing" for text, _ in sorted(sources - keys(catalog), key=str))
        yield from (f"{name}: {text!r} is no longer used" for text, _ in sorted(keys(catalog) - sources, key=str))
        yield from (
            f"{name}: {text!r} is stale (#~): run 'make translations'"
            for text in map(singular, catalog.obsolete.values())
        )
        for message in catalog:
            if message.id and (problem := message_problem(message)):
                yield f"{name}: {singular(message)!r} {problem}"


def main(command: str) -> int:
    if command == "check":
        found = list(problems())
        print("\n".join(found) or f"{len(keys(extracted()))} sentences, {len(locale_files())} languages: complete.")
        return 1 if found else 0
    {"update": update}[command]()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
