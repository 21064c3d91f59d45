"""The keys of texts in translations/keys.json: stable names, by which themes replace texts (`tools.translations` calls this)."""

import difflib
import json
import re
from collections.abc import Iterator, Mapping

from babel.messages.catalog import Catalog

from app.kit.text.source_texts import KEYS_FILE, SourceText, TextKeys, read_keys
from app.kit.text.text_places import OTHER, PLACES, PLACES_FILE

WORDS = 6
"""Of a text in its key, unless another text begins with the same ones."""
ENDINGS = {"?": "question", ".": "sentence", "…": "pending", ":": "label"}
"""What tells the keys of texts with the same words apart, by the last sign."""
SIMILAR = 0.6
"""From this ratio of difflib on, a text in the same file is the earlier one in other words, and keeps its key."""


def of_catalog(catalog: Catalog) -> dict[SourceText, frozenset[str]]:
    """Each source text with the files that have it."""
    found = {}
    for message in catalog:
        if message.id:
            one, many = (message.id, "") if isinstance(message.id, str) else (message.id[0], message.id[1])
            found[SourceText(one, many, message.context or "")] = frozenset(file for file, _ in message.locations)
    return found


def updated(
    before: TextKeys, old: Mapping[SourceText, frozenset[str]], new: Mapping[SourceText, frozenset[str]]
) -> TextKeys:
    """The keys for the new texts: a text keeps its key, also in other words; a key is retired, never given to another text."""
    key_of = {source: key for key, source in before.current.items()}
    current = {key: source for key, source in before.current.items() if source in new}
    retired = dict(before.retired)
    gone = {source: key for source, key in key_of.items() if source not in new}
    for source in sorted(
        (source for source in new if source not in key_of), key=lambda source: (source.text, source.context)
    ):
        earlier = _reworded(source, new[source], gone, old)
        key = (
            gone.pop(earlier)
            if earlier is not None
            else _new_key(source, current.keys() | retired.keys() | set(gone.values()))
        )
        current[key] = source
    retired |= dict.fromkeys(gone.values(), "")
    return TextKeys(dict(sorted(current.items())), dict(sorted(retired.items())))


def _reworded(
    source: SourceText, files: frozenset[str], gone: Mapping[SourceText, str], old: Mapping[SourceText, frozenset[str]]
) -> SourceText | None:
    """The text that this one replaces: gone from the same file, and like it."""
    kin = [
        other
        for other in gone
        if other.context == source.context
        and bool(other.plural) == bool(source.plural)
        and old.get(other, files) & files
    ]
    ratio = {other: difflib.SequenceMatcher(None, other.text, source.text).ratio() for other in kin}
    best = max(kin, key=lambda other: ratio[other], default=None)
    return best if best is not None and ratio[best] >= SIMILAR else None


def _new_key(source: SourceText, taken: set[str]) -> str:
    words = re.findall(r"[a-z0-9]+", re.sub(r"%\((\w+)\)[sd]", r" \1 ", re.sub("[’']", "", source.text)).lower()) or [
        "sign"
    ]
    prefix = "_".join(re.findall(r"[a-z0-9]+", source.context.lower())) + "." if source.context else ""
    for count in range(min(WORDS, len(words)), len(words) + 1):
        if (key := prefix + "_".join(words[:count])) not in taken:
            return key
    stem = prefix + "_".join(words[:WORDS])
    endings = (ENDINGS.get(source.text[-1], "words"), *map(str, range(2, 1_000)))
    return next(key for ending in endings if (key := f"{stem}_{ending}") not in taken)


def written(keys: TextKeys) -> str:
    """The content of keys.json, one key a line."""
    texts = ",\n".join(f"  {json.dumps(key)}: {_json(source.to_json())}" for key, source in keys.current.items())
    retired = ",\n".join(f"  {json.dumps(key)}: {json.dumps(other)}" for key, other in keys.retired.items())
    return f'{{"texts": {{\n{texts}\n}}, "retired": {{{f"{chr(10)}{retired}{chr(10)}" if retired else ""}}}}}\n'


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def places_written(catalog: Catalog, keys: TextKeys) -> str:
    """The content of places.json: the keys of each place, by the files that have their texts."""
    key_of = {source: key for key, source in keys.current.items()}
    found: dict[str, set[str]] = {place: set() for place in PLACES}
    for source, files in of_catalog(catalog).items():
        for file in files:
            found[_place_of(file)].add(key_of[source])
    return json.dumps({place: sorted(names) for place, names in found.items()}, indent=0) + "\n"


def _place_of(file: str) -> str:
    match = re.match(r"(?:app/hub|templates)/pages/(\w+)/", file)
    if match:
        return match[1]
    if file.startswith(("app/hub/factors/", "templates/factors/")):
        return "security"
    if file.startswith("app/identity/messaging/text_message"):
        return "text_messages"
    return "mails" if file.startswith(("app/identity/messaging/", "templates/mails/", "templates/emails/")) else OTHER


def update(old: Catalog, new: Catalog) -> None:
    """Bring keys.json up to the sources."""
    before = read_keys() if KEYS_FILE.exists() else TextKeys({}, {})
    keys = updated(before, of_catalog(old), of_catalog(new))
    KEYS_FILE.write_text(written(keys), encoding="utf-8")
    PLACES_FILE.write_text(places_written(new, keys), encoding="utf-8")


def problems(sources: Catalog) -> Iterator[str]:
    """Texts without a key, and keys without their text."""
    keys = read_keys()
    known, found = set(keys.current.values()), of_catalog(sources)
    yield from (f"{source.text!r} has no key: run 'make translations'" for source in found if source not in known)
    yield from (
        f"keys.json: {key} is no text of the sources: run 'make translations'"
        for key, source in keys.current.items()
        if source not in found
    )
    if KEYS_FILE.read_text(encoding="utf-8") != written(keys):
        yield "keys.json is not sorted: run 'make translations'"
    elif found.keys() == known and PLACES_FILE.read_text(encoding="utf-8") != places_written(sources, keys):
        yield "places.json is not what the sources say: run 'make translations'"
