"""Every row of the interface for sign-ins by other providers has an operation or a page, and a test that asks it."""

from __future__ import annotations

import pytest

from app.contract.federation.native_sign_in_operations import PROVIDERS, NativeSignIn
from app.contract.resources import BOUND
from app.kit.operations.wire import From
from tests.support.operation_cases.federation_rows import AUTHORIZE, NATIVE, NATIVE_QUERY, ROWS
from tests.support.operations.cited_tests import TESTS, undefined
from tools.interface_rows.comparison import InterfaceRow, Result, compare, operation_targets, page_targets, with_tests
from tools.interface_rows.tested_addresses import addresses_called_in

FOLDERS = (
    "api/federation", "api/organizations", "api/single_sign_on", "api/applications", "api/oauth/clients", "api/sign_in", "pages/federation",
    "pages/organizations/connections", "api/saml", "pages/saml", "support/saml",
)  # fmt: skip
"""Where such tests are."""


@pytest.fixture(scope="module")
def results() -> list[Result]:
    rows = [InterfaceRow("federation", "", *row.split()) for row in ROWS]
    generic = frozenset(item.operation.name for item in BOUND if item.draft.verb_options)
    targets = with_tests([*operation_targets(), *page_targets()], addresses_called_in(TESTS, *FOLDERS), generic)
    found = compare(rows, targets, ())
    print("\n".join(result.line() for result in found))
    return found


def test_every_row_has_an_operation(results: list[Result]) -> None:
    assert [result.row.label for result in results if not result.targets] == []


def test_every_row_has_a_test(results: list[Result]) -> None:
    assert [result.row.label for result in results if result.targets and not result.tests] == []


def test_parameters_that_choose_a_provider_have_tests() -> None:
    assert undefined(AUTHORIZE.values()) == []


def test_native_sign_in_has_the_names_of_its_row() -> None:
    """Letter case included."""
    query = {info.alias or name for name, info in NativeSignIn.model_fields.items() if From.PATH not in info.metadata}
    assert query == set(NATIVE_QUERY)
    assert set(PROVIDERS) == set(NATIVE)
