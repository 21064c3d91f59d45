"""The comparison of the interface's tables with the operations, over small tables and tests of its own."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.contract.resources import RESOURCES
from tools.interface_rows import comparison, resource_lines
from tools.interface_rows.comparison import InterfaceRow, Reason, Result, Target, compare, rows_of, with_tests
from tools.interface_rows.tested_addresses import addresses_called_in, nearest

TABLES = """# Books

| Id | Operation | Auth | Src |
|---|---|---|---|
| B01 | GET `/v2/books/{isbn}` read; alias PUT `/v2/books/{isbn}/read` | K | public |
| B02 | GET `/v2/books/{id}?full=1` read all of it | K | public |
| B03 | DELETE `{cloud_url}/v2/books/Loans/{Reader}` | K | public |

| URL | Shows |
|---|---|
| GET/POST {hub_url}`/shelf.aspx?action=a` | POST `/v2/books…` and followers |
| GET `/shelf.aspx?action=b` | no other row |
| GET or PUT `/shelf` | both |

POST `/v2/outside/of/tables`
"""
READ = Target("books.read", (("GET", "/v2/books/{number}"),), "B01")
WHOLE = Target("books.whole", (("GET", "/v2/books/{number}"),), "B02")
LOANS = Target("books.end_loan", (("DELETE", "/v2/older-loans"), ("DELETE", "/v2/books/loans/{name}")))
SHELF = Target("pages.shelf", (("GET", "/shelf.aspx"),))
TARGETS = [READ, WHOLE, LOANS, SHELF]


def results(*reasons: Reason) -> dict[tuple[str, str], Result]:
    found = compare(rows_of("books", TABLES), TARGETS, reasons)
    return {(item.row.id or item.row.method, item.row.path): item for item in found}


def names(result: Result) -> list[str]:
    return [target.name for target in result.targets]


def test_every_pair_of_a_table_is_a_row() -> None:
    assert rows_of("books", TABLES) == [
        InterfaceRow("books", "B01", "GET", "/v2/books/{isbn}"),
        InterfaceRow("books", "B01", "PUT", "/v2/books/{isbn}/read"),
        InterfaceRow("books", "B02", "GET", "/v2/books/{id}"),
        InterfaceRow("books", "B03", "DELETE", "/v2/books/Loans/{Reader}"),
        InterfaceRow("books", "", "GET", "/shelf.aspx"),
        InterfaceRow("books", "", "POST", "/shelf.aspx"),
        InterfaceRow("books", "", "POST", "/v2/books"),
        InterfaceRow("books", "", "GET", "/shelf"),
        InterfaceRow("books", "", "PUT", "/shelf"),
    ]


def test_row_is_answered_by_address_and_id() -> None:
    found = results()
    assert names(found["B01", "/v2/books/{isbn}"]) == ["books.read"]
    assert names(found["B02", "/v2/books/{id}"]) == ["books.whole"]
    assert names(found["B03", "/v2/books/Loans/{Reader}"]) == ["books.end_loan"], "an older address, in other letters"
    assert names(found["GET", "/shelf.aspx"]) == ["pages.shelf"]
    assert found["POST", "/shelf.aspx"].status == "**missing**"


def test_row_without_operation_has_its_reason() -> None:
    found = results(Reason("^books POST /v2/", "writing comes later"))
    assert found["POST", "/v2/books"].status == "writing comes later"
    text = comparison.report("books", list(found.values()))
    assert "books: 4 of 9 rows have an operation or a page." in text
    assert "- 1 rows: writing comes later" in text
    assert "| B02 | GET `/v2/books/{id}` | `books.whole` |  | no test |" in text


MODULE = """
from books.support import BOOKS
SHELF, NAME = "/shelf.aspx", "SHELF"

def test_loan(send, reader):
    path = f"{BOOKS}/loans"
    send("DELETE", f"{path}/{reader}", {"x": NAME})

def test_page(visitor):
    visitor.get(f"{SHELF}?action=a")

ROWS = ["B02"]
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    tests = tmp_path / "books"
    tests.mkdir()
    (tests / "support.py").write_text('BOOKS = "/v2/books"\n')
    (tests / "test_books.py").write_text(MODULE)
    return tests


def test_calls_of_tests_name_operations(folder: Path) -> None:
    tested = {
        row.name: row.tests for row in with_tests(TARGETS, addresses_called_in(folder), frozenset({"books.read"}))
    }
    assert tested == {
        "books.read": (comparison.EVERY_RESOURCE,),
        "books.whole": ("test_books.py",),
        "books.end_loan": ("test_books.py",),
        "pages.shelf": ("test_books.py",),
    }


def test_fixed_segment_is_nearer_than_a_parameter() -> None:
    known = [("GET", "/a/{id}"), ("GET", "/a/keys"), ("PUT", "/a/keys")]
    assert nearest(("GET", "/a/keys"), known) == [("GET", "/a/keys")]
    assert nearest(("GET", "/a/*"), known) == [("GET", "/a/{id}")]
    assert nearest(("", "/A/keys"), known) == [("GET", "/a/keys"), ("PUT", "/a/keys")]
    assert nearest(("GET", "/b/keys"), known) == []


def test_pages_and_operations_are_known_by_address() -> None:
    rows = [InterfaceRow("x", "", "POST", "/service/OIDC/{app}/logout"), InterfaceRow("x", "", "GET", "/ciam/appinfo")]
    found = compare(rows, [*comparison.operation_targets(), *comparison.page_targets()], [])
    assert [names(item) for item in found] == [["protocol.logout"], ["tenants.appinfo"]]


def test_every_resource_has_lines(folder: Path) -> None:
    lines = {item.name: item for item in resource_lines.lines_per_resource(addresses_called_in(folder))}
    assert set(lines) == {resource.kind for resource in RESOURCES}
    assert all(line.operations and line.contract for line in lines.values())
    assert lines["themes"].operations == 10
    assert lines["themes"].tests == 0
