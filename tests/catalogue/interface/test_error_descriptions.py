"""What a client reads in an error was written for it: no note of an author, and a refused parameter is named."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

import pytest

from app.contract.catalogue import load_catalogue
from app.kit.operations.errors import ApiError, error_body
from app.kit.package_files import HOME
from tests.support.tenants.machines import ask, machine
from tests.support.tenants.tenant_server import NewTenantServer, answered

NOTE = re.compile(
    r"in the (response|answer)|(the )?description\b|names it\b|\b(todo|tbd|fixme|xxx|n/a|placeholder|chosen|public page|our own)\b"
    r"|\berrors?\.md\b|\binterface [a-z-]+\.md|\bsection \d|\b(row|table)s? [AMU]\d|\bU\d\d\b|†|‡|\{\w*\}|%\(|<[a-z]+>"
    r"|\bsee (the )?(docs|text|list)\b",
    re.IGNORECASE,
)
"""Texts about the text itself, about our own tables, and values that were never filled in."""
MUST_NAME = frozenset({"BadParameter", "BadField", "bad_parameter", "bad"})
"""Errors and attributes that name a parameter; raised without words they would name none."""


def every_error() -> list[type[ApiError]]:
    found = {error for operation in load_catalogue() for error in operation.every_error}
    return sorted(found, key=lambda error: (str(error.code), error.__name__, error.status))


def test_no_error_sends_the_note_of_an_author(subtests: pytest.Subtests) -> None:
    errors = every_error()
    assert len(errors) > 250
    for error in errors:
        with subtests.test(error.__name__):
            sent = error_body(error())
            words = " ".join(
                str(sent.get(name, "")) for name in ("Description", "description", "error_description", "detail")
            )
            assert words.strip()
            assert not NOTE.search(words), words


@pytest.mark.parametrize(
    "words", ["The description in the response names it.", "See errors.md.", "As U12.", "No {field} here.", "TODO"]
)
def test_note_of_an_author_is_found(words: str) -> None:
    assert NOTE.search(words)


def bare_raises(code: str) -> Iterator[int]:
    """Yield the lines that raise one of these errors without words, alone or as the last choice of an `or`."""
    for node in ast.walk(ast.parse(code)):
        if not isinstance(node, ast.Raise) or node.exc is None:
            continue
        last = node.exc.values[-1] if isinstance(node.exc, ast.BoolOp) else node.exc
        if isinstance(last, ast.Call) and not last.args and not last.keywords:
            last = last.func
        name = last.attr if isinstance(last, ast.Attribute) else last.id if isinstance(last, ast.Name) else ""
        if name in MUST_NAME:
            yield node.lineno


def test_refusal_of_a_parameter_has_words() -> None:
    found = [
        f"{path.relative_to(HOME)}:{line}"
        for path in sorted((HOME / "app").rglob("*.py"))
        for line in bare_raises(path.read_text())
    ]
    assert found == []


@pytest.mark.parametrize("code", ["raise e.BadField", "raise a or bound.bad from None", "raise BadParameter()"])
def test_refusal_without_words_is_found(code: str) -> None:
    assert list(bare_raises(code)) == [1]


OAUTH_PROVIDER = {
    "ProviderName": "partner", "UserLoginEndpoint": "https://p.example/a", "AccessTokenEndpoint": "https://p.example/t",
    "UserprofileEndpoint": "https://p.example/u", "ApplicationKey": "k", "DataMap": {"ID": "id"},
}  # fmt: skip
NAMED = [
    ("POST", "/v2/manage/custom-providers/oauth", OAUTH_PROVIDER, "ProviderName"),
    ("POST", "/v2/manage/hosted-pages/themes", {"Name": "Dark"}, "Name"),
    ("GET", "/v2/manage/providers/NOBODY", None, "provider"),
    ("DELETE", "/v2/manage/sott/unknown", None, "authenticityToken"),
]
"""Requests that are refused by the resource and not by a rule of their own, and the parameter to blame."""


@pytest.mark.parametrize(("method", "path", "body", "name"), NAMED, ids=[path for _, path, _, _ in NAMED])
def test_refused_id_or_name_is_named(
    new_tenant_server: NewTenantServer, method: str, path: str, body: object, name: str
) -> None:
    tenant = new_tenant_server()
    token = machine(tenant, "all")
    if method == "POST":
        answered(ask(tenant, token, method, path, body))
    refusal = ask(tenant, token, method, path, body)
    assert refusal.status_code == 400
    assert refusal.get_json()["Description"].startswith(f"{name}: "), refusal.text
