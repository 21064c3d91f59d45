"""The published interface and configuration contain no internal notes."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from app.contract.operations import CATALOGUE
from tests.support.published import published_interface

ROOT = Path(__file__).parents[2]
NOTES = {
    "a table's row": r"\brows? [A-Z]?\d|\b[AMU]\d\d\b",
    "a file of ours": r"\.md\b|\.py\b|\bdecisions?/\d",
    "our source": r"\bseed\b|\bthe issue\b|\bthe tables?\b|\bpublic page|\(chosen|\(public",
    "a section without its document": r"^section \d|\(section \d",
    "something elsewhere on the page": r"^(As|Like|See) above|^The same\b|\bbeside it\b|^State\b|^Those\b|^It works",
    "how it is written": r"lower camel|lower-case d|\bspelt as\b|^Names the\b",
    "what is to be done": r"\bnot built\b|\bTODO\b|\bFIXME\b|\bXXX\b|\blater issue\b|\bfor now\b",
    "us": r"\b(our|ours|we|us)\b",
}

ELSEWHERE = {"true", "false", "claims", "PublicKeyCredential", "begin", "finish", "api_key", "api_secret"} | {
    "client_credentials",
    "apisecret",
}
"""Names of JSON, of an authorization request, of browsers, of paths, of grants and of the configuration file."""


def _is_of_error(at: str) -> bool:
    """Return whether codes and messages are there, which clients of the interface match on."""
    return "/responses/" in at or re.search(r"/components/examples/\w+", at) is not None


def texts(found: Any, at: str = "") -> Iterator[tuple[str, str]]:
    """Yield the location and the text of each summary and description."""
    if isinstance(found, dict):
        for name, value in found.items():
            if name in ("summary", "description") and isinstance(value, str):
                if not _is_of_error(at):
                    yield f"{at}/{name}", value
            else:
                yield from texts(value, f"{at}/{name}")
    elif isinstance(found, list):
        for number, value in enumerate(found):
            yield from texts(value, f"{at}/{number}")


def error_texts() -> Iterator[tuple[str, str]]:
    for operation in CATALOGUE:
        if operation.documentation.is_public:
            yield from ((error.__name__, error.description) for error in operation.every_error)


@pytest.mark.parametrize(("what", "pattern"), NOTES.items(), ids=NOTES)
def test_published_texts_contain_no_internal_notes(what: str, pattern: str) -> None:
    read = {*texts(published_interface()), *error_texts()}
    assert len(read) > 400
    assert sorted(found for found in read if re.search(pattern, found[1])) == [], what


def test_configuration_reference_names_no_source() -> None:
    for name in ("configuration.md", "configuration.schema.json"):
        text = (ROOT / "docs" / name).read_text()
        assert re.findall(r".*(?:interface [\w-]+\.md|\brows? [AMU]\d\d).*", text) == [], name


def test_names_in_descriptions_are_names_of_the_interface() -> None:
    text = json.dumps(published_interface())
    names = set(re.findall(r'"([A-Za-z_]\w*)":', text)) | set(re.findall(r'"name": "([^"]+)"', text))
    unknown = {
        (at, name)
        for at, text in texts(published_interface())
        for name in re.findall(r"`([A-Za-z_]\w*)`", text)
        if name not in names | ELSEWHERE
    }
    assert unknown == set()


def test_every_operation_has_a_unique_summary() -> None:
    public = [operation for operation in CATALOGUE if operation.documentation.is_public]
    unlike = {operation.documentation.summary for operation in public}
    for operation in public:
        assert re.match(r"[A-Z][^.]*.*\.$", operation.documentation.summary), operation.name
        assert len(operation.documentation.summary) > 10, operation.name
    assert len(unlike) > len(public) * 0.95
