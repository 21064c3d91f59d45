"""Every operation that the tables mark takes `prevent_webhook` as a parameter that the request's context obeys."""

from app.contract.catalogue import CATALOGUE, load_catalogue
from app.contract.shared_parameters import WebhookSuppression
from app.kit.operations.wire import shape_of
from tests.support.operation_cases.expected_operations import ROWS

load_catalogue()
NAMES = {"prevent_webhook", "x-preventwebhook"}
MARKED = {row for row, item in ROWS.items() if "PW" in item.marks.split()}
ELSEWHERE = {"A01", "A05", "A06", "A07", "A08", "A09", "A10", "A11", "A12", "A16", "U63", "U65", "U66"}
"""Rows of the tables that `ROWS` does not have, or without their marks. U63 and U64 are one operation."""


def test_every_marked_row_can_suppress_webhooks() -> None:
    able = {op.documentation.row for op in CATALOGUE if issubclass(op.request, WebhookSuppression)}
    assert (MARKED | ELSEWHERE) - able == set()


def test_context_obeys_every_parameter_that_suppresses_webhooks() -> None:
    taking = [op for op in CATALOGUE if NAMES & {wire.lower() for _, _, wire in shape_of(op.request).in_address}]
    assert len(taking) > len(MARKED)
    assert [op.name for op in taking if not issubclass(op.request, WebhookSuppression)] == []


def test_every_suppressing_operation_takes_query_and_header() -> None:
    for op in CATALOGUE:
        if issubclass(op.request, WebhookSuppression):
            assert {wire.lower() for _, _, wire in shape_of(op.request).in_address} >= NAMES, op.name
