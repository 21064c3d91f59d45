"""The operations that a declared resource gets."""

from __future__ import annotations

from app.contract.resources import BOUND, import_contract
from app.kit.operations.operation import Accept
from app.kit.operations.wire import shape_of


def test_operation_without_body_fields_reads_forms_too() -> None:
    import_contract()
    kinds = {(shape_of(one.operation.request).has_body, one.operation.media_types) for one in BOUND}
    assert kinds == {(True, Accept.JSON.types), (False, Accept.JSON_OR_FORM.types)}
