"""The operations that a declared resource gets."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, Field

from app.contract import errors
from app.contract.resources import BOUND, bound, import_contract, resource
from app.kit.operations.operation import Accept, Catalogue
from app.kit.operations.wire import Wire, shape_of
from app.kit.resources.resource import CREATE, READ, Key
from app.kit.resources.resource_models import file_model


class Shelf(Wire):
    """A shelf of the tenant."""

    shelf_name: Annotated[str, Key("shelfName"), Field(description="The name of the shelf.", examples=["upper"])]


def test_operation_without_body_fields_reads_forms_too() -> None:
    import_contract()
    kinds = {(shape_of(one.operation.request).has_body, one.operation.media_types) for one in BOUND}
    assert kinds == {(True, Accept.JSON.types), (False, Accept.JSON_OR_FORM.types)}


def test_texts_of_a_model_describe_requests_and_files() -> None:
    shelves = resource(
        "shelves", "/v2/manage/shelves", Shelf, (CREATE, READ), noun="shelf", kind="shelves",
        exists=errors.BadField, unknown=errors.BadField, file_key="shelves",
    )  # fmt: skip
    create, read = (item.operation for item in bound(shelves, Catalogue()))
    file = file_model(shelves)
    assert _field(create.request, "ShelfName") == _field(file, "shelf_name") == ("The name of the shelf.", ["upper"])
    assert _field(read.request, "shelfName")[0] == "The name of the shelf."
    assert file.model_json_schema()["description"] == "A shelf of the tenant."


def _field(model: type[BaseModel], name: str) -> tuple[str, Any]:
    schema = model.model_json_schema()["properties"][name]
    return schema["description"], schema.get("examples")
