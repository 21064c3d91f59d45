"""Types of custom objects in a tenant's settings. The docstrings are published."""

from typing import Annotated, Any, Final

from pydantic import AfterValidator, Field
from pydantic_core import to_json

from app.contract.configuration_model import ConfigurationModel, Moment
from app.kit.text.json_schema import check_schema


def _record_schema(schema: dict[str, Any]) -> dict[str, Any]:
    if len(to_json(schema)) > _MAX_SCHEMA_BYTES:
        raise ValueError(f"a schema of at most {_MAX_SCHEMA_BYTES} bytes")
    check_schema(schema)
    return schema


_MAX_SCHEMA_BYTES: Final = 20_000


ObjectName = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,99}$")]


ObjectId = Annotated[str, Field(pattern=r"^[A-Za-z0-9-]{1,64}$")]


RecordSchema = Annotated[dict[str, Any], AfterValidator(_record_schema)]


class CustomObject(ConfigurationModel):
    """A type of record that the tenant's applications store with an account. If you remove
    a type, its records stay stored, and are available again after you add it back."""

    name: ObjectName
    id: ObjectId | None = None  # `customobjectid`, an alternative to the name
    record_schema: RecordSchema | None = None
    max_records_per_account: int = Field(default=50, ge=1, le=1_000)
    max_record_bytes: int = Field(default=100_000, ge=100, le=1_000_000)  # as JSON, in UTF-8
    created_at: Moment | None = None  # the service's; no file needs them
    modified_at: Moment | None = None
