"""Management programs read and write the custom objects that a tenant configures.

The docstrings are published."""

from typing import Annotated

from pydantic import Field

from app.contract import errors
from app.contract.custom_objects.settings import ObjectId, ObjectName, RecordSchema
from app.contract.resources import collection
from app.kit.operations.wire import Wire
from app.kit.resources.resource import CREATE, DELETE, FIXED, LIST, READ, READ_ONLY, UPDATE, InSettings, Key, StoredAs


class CustomObjectType(Wire):
    """A type of record that your application stores with accounts. `Id` is another name of it in requests, and generated if
    absent. `Schema` is a JSON Schema that new and changed records must fit; it can use `type`, `enum`, `const`, `properties`,
    `required`, `additionalProperties`, `items`, and the bounds of numbers, texts, lists and objects."""

    name: Annotated[ObjectName, Key("objectName")]
    id: Annotated[ObjectId | None, FIXED] = None
    schema_: Annotated[RecordSchema | None, Field(alias="Schema"), StoredAs("record_schema")] = None
    max_records_per_account: Annotated[int, Field(ge=1, le=1_000)] = 50
    max_record_bytes: Annotated[int, Field(ge=100, le=1_000_000)] = 100_000
    created_date: Annotated[str | None, READ_ONLY, StoredAs("created_at")] = None
    modified_date: Annotated[str | None, READ_ONLY, StoredAs("modified_at")] = None


TYPES = collection(
    "custom_object_types", "/v2/manage/custom-objects", CustomObjectType, verbs=(LIST, CREATE, READ, UPDATE, DELETE),
    noun="custom object", scope="customobject", max_items=100, has_default_page=True, exists=errors.BadField,
    unknown=errors.UnknownObjectName,
    backing=InSettings("custom_objects", listed=True),
    about="A custom object is a type of record that your application stores with accounts. If you delete it, its records stay "
    "stored, and are back when you create it again.",
)  # fmt: skip
