"""Errors in the API reference: each with its meaning, and codes that share a text apart from each other."""

import html
import re

from app.reference.error_index import PublishedError
from tests.support.documentation.reference import get, operations, pages


def errors() -> dict[str, PublishedError]:
    return dict(pages()._book.errors.errors)


def test_page_explains_every_error_that_an_operation_answers() -> None:
    text = html.unescape(re.sub(r"</?code>", "", get("/docs/errors").text))
    assert len(errors()) > 300
    for name, error in errors().items():
        assert f'<dt id="{error.code}">' in text, name
        assert error.meaning.replace("`", "") in text, name


def test_codes_that_share_a_message_differ_in_their_meaning() -> None:
    meanings: dict[tuple[str, str], set[str]] = {}
    for error in errors().values():
        meanings.setdefault((error.message, error.meaning), set()).add(error.code)
    assert {key: codes for key, codes in meanings.items() if len(codes) > 1} == {}


def test_operation_lists_its_rarest_errors_first() -> None:
    own, others = pages()._book.errors.of_operation("accounts.read_by_uid")
    assert {error.code for error in own} == {"984", "1200"}
    assert "429" in {error.code for error in others}
    _, _, stated = operations()["accounts.read_by_uid"]
    named = {
        name
        for item in stated["responses"].values()
        for content in item.get("content", {}).values()
        for name in content.get("examples", {})
    }
    assert {name for name in named if name in errors()} == {
        name for name, error in errors().items() if error in [*own, *others]
    }


def test_page_of_an_operation_explains_its_errors() -> None:
    text = get("/docs/accounts/accounts.read_by_uid").text
    assert '<dt><a href="/docs/errors#984"><code>984</code></a> Account ID is invalid</dt>' in text
