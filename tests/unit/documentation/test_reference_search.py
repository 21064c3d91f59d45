"""Search of the API reference: what it finds first, and the page that answers without scripts."""

import html
import re

import pytest

from tests.support.documentation.reference import get, pages


def found(query: str, limit: int = 5) -> list[tuple[str, str]]:
    return [(entry.kind, entry.title) for entry in pages()._search.find(query, limit)]


@pytest.mark.parametrize(
    ("query", "kind", "title"),
    [
        ("login password post", "Operation", "Sign in with a password"),
        ("/v2/manage/accounts", "Operation", "List accounts"),
        ("GET /v2/manage/accounts", "Operation", "List accounts"),
        ("passkeys", "Chapter", "Passkeys"),
        ("966", "Error", "966 Invalid user ID and/or password"),
        ("invalid_grant", "Error", "invalid_grant The supplied grant or token is not valid"),
        ("webhook signature header", "Guide", "The header signature"),
        ("pagesize", "Field", "pagesize"),
    ],
)
def test_first_result_is_what_the_words_name(query: str, kind: str, title: str) -> None:
    assert found(query)[0] == (kind, title)


def test_every_word_must_be_found() -> None:
    assert found("login nothing-of-the-kind") == []
    assert found("   ") == []


def test_name_of_a_field_is_found_once() -> None:
    titles = [title for kind, title in found("access_token", 100) if kind == "Field"]
    assert titles.count("access_token") == 1


def test_page_lists_results_and_keeps_the_query() -> None:
    answer = get("/docs/search?q=Sign+in+with+a+password")
    assert "form-action 'self'" in answer.headers["Content-Security-Policy"]
    assert 'value="Sign in with a password"' in answer.text
    first = re.search(r'<ul class="results" id="found">\s*<li><a class="op" href="([^"]+)">', answer.text)
    assert first is not None
    assert first[1] == "/docs/sign-in/sign_in.with_password"


def test_query_is_text_and_not_markup() -> None:
    assert "<b>" not in get("/docs/search?q=%22%3E%3Cb%3E").text
    assert "Nothing matches" in get("/docs/search?q=%22%3E%3Cb%3E").text


def test_every_result_leads_to_a_page_and_a_place_on_it() -> None:
    pages_read: dict[str, str] = {}
    places = {entry.address for entry in pages()._search._entries if entry.kind in ("Chapter", "Guide", "Error")}
    assert len(places) > 500
    for address in places:
        path, _, fragment = address.partition("#")
        if path not in pages_read:
            answer = get(path)
            assert answer.status_code == 200, path
            pages_read[path] = html.unescape(answer.text)
        assert not fragment or f'id="{fragment}"' in pages_read[path], address
