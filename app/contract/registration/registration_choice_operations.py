"""Choices of registration fields."""

from typing import Annotated

from pydantic import Field

from app.contract import errors
from app.contract.auth import API_KEY, API_SECRET, MACHINE_TOKEN
from app.contract.catalogue import operation
from app.contract.registration.registration_operations import Query
from app.contract.shared_responses import Deleted, Posted
from app.kit.operations.operation import Accept
from app.kit.operations.wire import Document, From, Wire

RecordType = Annotated[str, Field(min_length=1, max_length=100)]


class NewRecord(Wire):
    """One choice of a registration field. `Type`, `Key` and `Value` are required."""

    type: str | None = None
    key: str | None = None
    value: str | None = None
    parent_id: str | None = None
    code: str | None = None
    is_active: bool = True


class NewRecords(Wire):
    data: list[NewRecord] = Field(min_length=1, max_length=200)


class ListRecords(Wire):
    type: Annotated[RecordType, From.PATH]
    parent_id: Annotated[str | None, Query] = None
    skip: Annotated[int, Query] = Field(default=0, ge=0, le=1_000_000)
    limit: Annotated[int, Query] = Field(default=50, ge=1, le=50)


class UpdateRecord(Wire):
    record_id: Annotated[str, From.PATH]
    type: str | None = None
    key: str | None = None
    value: str | None = None
    parent_id: str | None = None
    code: str | None = None
    is_active: bool | None = None


class RecordId(Wire):
    record_id: Annotated[str, From.PATH]


class DeleteRecordType(Wire):
    type: Annotated[RecordType, From.PATH]


class RecordView(Wire):
    """A choice of a drop-down field. Only your servers get `Code`."""

    id: str
    code: str | None
    type: str
    key: str
    value: str
    parent_id: str | None
    parent_type: str | None
    is_active: bool
    date_created: str
    date_modified: str


class RecordUpdated(Wire):
    is_posted: bool = True
    data: RecordView


class CodeCheck(Wire):
    record_id: str = Field(max_length=100)
    code: str | None = Field(default=None, max_length=1_000)


class CodeIsValid(Wire):
    is_valid: bool = True


_LIST = (errors.NoRecords, errors.NoChildRecords, errors.WrongRecordType)


_WRITE = (errors.MalformedRecord, errors.UnknownParentRecord, errors.WrongRecordType)


_MANAGED = "/identity/v2/manage/registrationdata"

records = operation(
    "registration.records", "GET /identity/v2/auth/registrationdata/{type}", ListRecords, Document, auth=API_KEY, row="U10", errors=_LIST,
    summary="List choices of a sign-up field",
    description="Returns the active choices of a drop-down field of the sign-up form, up to 50 at a time. With `parentid` you get the "
    "choices below another one, for example the cities of a country. Codes are left out.",
)  # fmt: skip


check_code = operation(
    "registration.check_code", "POST /identity/v2/auth/registrationdata/validatecode", CodeCheck, CodeIsValid, auth=API_KEY, row="U11",
    errors=(errors.UnknownRecord, errors.RecordWithoutCode, errors.WrongRecordCode, errors.RecordCodeMissing),
    summary="Check the code of a choice",
    description="Tells whether a code belongs to a choice, for example the access code of a branch. It changes nothing.",
)  # fmt: skip


add_records = operation(
    "registration.add_records", f"POST {_MANAGED}", NewRecords, Posted, auth=API_KEY & API_SECRET | MACHINE_TOKEN,
    scope="profile:create", accepts=Accept.JSON, row="A51", errors=_WRITE,
    summary="Add choices to sign-up fields",
    description="Adds choices to drop-down fields of the sign-up form. Each needs `type`, `key` and `value`; `parentid` puts it below "
    "another choice, and `code` protects it.",
)  # fmt: skip


managed_records = operation(
    "registration.managed_records", f"GET {_MANAGED}/{{type}}", ListRecords, Document,
    auth=API_KEY & API_SECRET | MACHINE_TOKEN, scope="profile:read", row="A52", errors=_LIST,
    summary="List choices with their codes",
    description="Returns the choices of a drop-down field of the sign-up form, with codes, up to 50 at a time. With `parentid` you "
    "get the choices below another one.",
)  # fmt: skip


change_record = operation(
    "registration.change_record", f"PUT {_MANAGED}/{{recordid}}", UpdateRecord, RecordUpdated,
    auth=API_KEY & API_SECRET | MACHINE_TOKEN, scope="profile:update",
    accepts=Accept.JSON, row="A53", errors=(*_WRITE, errors.UnknownRecord),
    summary="Update a choice",
    description="Changes the members of a choice that the request contains. Accounts that chose it keep their value.",
)  # fmt: skip


remove_record = operation(
    "registration.remove_record", f"DELETE {_MANAGED}/{{recordid}}", RecordId, Deleted,
    auth=API_KEY & API_SECRET | MACHINE_TOKEN, scope="profile:delete", row="A54", errors=(errors.UnknownRecord,),
    summary="Delete a choice",
    description="Deletes a choice of a sign-up field. Accounts that chose it keep their value.",
)  # fmt: skip


remove_type = operation(
    "registration.remove_type", f"DELETE {_MANAGED}/type/{{type}}", DeleteRecordType, Deleted,
    auth=API_KEY & API_SECRET | MACHINE_TOKEN, scope="profile:delete", row="A55", errors=(errors.NoRecords,),
    summary="Delete all choices of a field",
    description="Deletes every choice of a sign-up field. Accounts keep their values.",
)  # fmt: skip
