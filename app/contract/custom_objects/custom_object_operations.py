"""Custom objects: records that a tenant's programs keep with an account ."""

from typing import Annotated, Any, Literal

from pydantic import Field

from app.contract import errors
from app.contract.auth import ACCESS_TOKEN, API_KEY, API_SECRET, MACHINE_TOKEN, READ, WRITE
from app.contract.catalogue import operation
from app.contract.error_groups import UID_ERRORS
from app.contract.shared_parameters import AccessTokenQuery, Uid, WebhookSuppression
from app.contract.shared_responses import Deleted
from app.kit.operations.operation import Accept
from app.kit.operations.wire import From, Lower, Wire

Query = From.QUERY
Update = Literal["default", "replace", "partialreplace"]


class NamedObject(Lower):
    """The object, by its name or its id."""

    object_name: Annotated[str | None, Query, Field(max_length=200)] = None
    custom_object_id: Annotated[str | None, Query, Field(max_length=200)] = None


class CustomRecordId(Lower):
    object_record_id: Annotated[str, From.PATH]


class RecordContent(Lower):
    """The stored record: the body unchanged."""

    record: Annotated[dict[str, Any], From.WHOLE]


class UpdateMode(Lower):
    """`partialreplace` sets the members that the body has and leaves the others; else the body takes the record's place."""

    update_type: Annotated[Update, Query] = "default"


class CreateOwnRecord(AccessTokenQuery, WebhookSuppression, NamedObject, RecordContent):
    pass


class ListOwnRecords(AccessTokenQuery, NamedObject):
    pass


class ReadOwnRecord(AccessTokenQuery, NamedObject, CustomRecordId):
    pass


class UpdateOwnRecord(AccessTokenQuery, WebhookSuppression, NamedObject, CustomRecordId, UpdateMode, RecordContent):
    pass


class DeleteOwnRecord(AccessTokenQuery, WebhookSuppression, NamedObject, CustomRecordId):
    pass


class CreateCustomRecord(WebhookSuppression, Uid, NamedObject, RecordContent):
    pass


class ListCustomRecords(Uid, NamedObject):
    pass


class ReadCustomRecord(Uid, NamedObject, CustomRecordId):
    pass


class UpdateCustomRecord(WebhookSuppression, Uid, NamedObject, CustomRecordId, UpdateMode, RecordContent):
    pass


class DeleteCustomRecord(WebhookSuppression, Uid, NamedObject, CustomRecordId):
    pass


class Record(Wire):
    id: str
    uid: str
    is_active: bool = True
    is_deleted: bool = False
    date_created: str
    date_modified: str
    custom_object: dict[str, Any]


class Records(Wire):
    """The account's records of one custom object, oldest first."""

    data: list[Record] = Field(alias="data")
    count: int


_OWN = "/identity/v2/auth/customobject"
_MANAGED = "/identity/v2/manage/account/{uid}/customobject"
NAMED_OBJECT_ERRORS = (
    errors.CustomObjectsOff,
    errors.ObjectNameMissing,
    errors.UnknownObjectName,
    errors.WrongObjectId,
)

add = operation(
    "custom_objects.add", f"POST {_OWN}", CreateOwnRecord, Record, auth=API_KEY & ACCESS_TOKEN, access=WRITE, accepts=Accept.JSON,
    no_object=errors.MalformedObject, row="U78", errors=(*NAMED_OBJECT_ERRORS, errors.ObjectFull),
    summary="Create a record",
    description="Adds a record, any JSON object, to the signed-in account. `objectname` or `customobjectid` names the custom object.",
)  # fmt: skip
read_all = operation(
    "custom_objects.read_all", f"GET {_OWN}", ListOwnRecords, Records, auth=API_KEY & ACCESS_TOKEN, access=READ, row="U79",
    errors=(*NAMED_OBJECT_ERRORS, errors.NoSuchObject),
    summary="List records",
    description="Returns the records of the signed-in account for one custom object.",
)  # fmt: skip
read = operation(
    "custom_objects.read", f"GET {_OWN}/{{objectrecordid}}", ReadOwnRecord, Record, auth=API_KEY & ACCESS_TOKEN, access=READ, row="U80",
    errors=(*NAMED_OBJECT_ERRORS, errors.NoSuchObject, errors.MalformedRecordId),
    summary="Get a record",
    description="Returns one record of the signed-in account.",
)  # fmt: skip
change = operation(
    "custom_objects.change", f"PUT {_OWN}/{{objectrecordid}}", UpdateOwnRecord, Record, auth=API_KEY & ACCESS_TOKEN,
    access=WRITE, accepts=Accept.JSON,
    no_object=errors.MalformedObject, row="U81", errors=(*NAMED_OBJECT_ERRORS, errors.NoSuchObject),
    summary="Update a record",
    description="Changes one record of the signed-in account: as a whole, or with `updatetype=partialreplace` only the members in the "
    "request.",
)  # fmt: skip
remove = operation(
    "custom_objects.remove", f"DELETE {_OWN}/{{objectrecordid}}", DeleteOwnRecord, Deleted, auth=API_KEY & ACCESS_TOKEN,
    access=WRITE, row="U82", errors=(*NAMED_OBJECT_ERRORS, errors.NoSuchObject),
    summary="Delete a record",
    description="Deletes one record of the signed-in account.",
)  # fmt: skip

managed_add = operation(
    "custom_objects.managed_add", f"POST {_MANAGED}", CreateCustomRecord, Record,
    auth=API_KEY & API_SECRET | MACHINE_TOKEN, scope="customobject:create",
    accepts=Accept.JSON, no_object=errors.MalformedObject, row="A31", errors=(*NAMED_OBJECT_ERRORS, *UID_ERRORS, errors.ObjectFull),
    summary="Create an account’s record",
    description="Adds a record, any JSON object, to an account. `objectname` or `customobjectid` names the custom object.",
)  # fmt: skip
managed_read_all = operation(
    "custom_objects.managed_read_all", f"GET {_MANAGED}", ListCustomRecords, Records,
    auth=API_KEY & API_SECRET | MACHINE_TOKEN, scope="customobject:read", row="A32",
    errors=(*NAMED_OBJECT_ERRORS, *UID_ERRORS, errors.NoSuchObject),
    summary="List an account’s records",
    description="Returns the records of an account for one custom object.",
)  # fmt: skip
managed_read = operation(
    "custom_objects.managed_read", f"GET {_MANAGED}/{{objectrecordid}}", ReadCustomRecord, Record,
    auth=API_KEY & API_SECRET | MACHINE_TOKEN,
    scope="customobject:read", row="A33", errors=(*NAMED_OBJECT_ERRORS, *UID_ERRORS, errors.NoSuchObject, errors.MalformedRecordId),
    summary="Get an account’s record",
    description="Returns one record of an account.",
)  # fmt: skip
_MANAGED_CHANGE_ERRORS = (*NAMED_OBJECT_ERRORS, *UID_ERRORS, errors.NoSuchObject)
managed_change = operation(
    "custom_objects.managed_change", f"PUT {_MANAGED}/{{objectrecordid}}", UpdateCustomRecord, Record,
    auth=API_KEY & API_SECRET | MACHINE_TOKEN,
    scope="customobject:update", accepts=Accept.JSON, no_object=errors.MalformedObject, row="A34", errors=_MANAGED_CHANGE_ERRORS,
    summary="Update an account’s record",
    description="Changes one record of an account: as a whole, or with `updatetype=partialreplace` only the members in the request.",
)  # fmt: skip
managed_remove = operation(
    "custom_objects.managed_remove", f"DELETE {_MANAGED}/{{objectrecordid}}", DeleteCustomRecord, Deleted,
    auth=API_KEY & API_SECRET | MACHINE_TOKEN,
    scope="customobject:delete", accepts=Accept.JSON, row="A35", errors=(*NAMED_OBJECT_ERRORS, *UID_ERRORS, errors.NoSuchObject),
    summary="Delete an account’s record",
    description="Deletes one record of an account.",
)  # fmt: skip
