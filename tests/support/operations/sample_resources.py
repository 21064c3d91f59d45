"""Resources that exist in tests alone: between them they use everything that a declaration can say."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Annotated, Any

from pydantic import Field

from app.contract import errors
from app.contract.resources import bound, resource
from app.contract.tenants.settings import TenantSettings
from app.identity.administration.resource_operations import resource_registry
from app.identity.platform.context import Context
from app.identity.platform.resource_storage.items import Item
from app.identity.platform.resource_storage.rules import Rules
from app.kit.operations.errors import ApiError
from app.kit.operations.operation import Catalogue
from app.kit.operations.wire import Wire
from app.kit.resources.resource import (
    CREATE,
    CREATED_AT,
    DELETE,
    FIXED,
    LIST,
    MODIFIED_AT,
    ONCE,
    READ,
    REPLACE,
    SECRET,
    UPDATE,
    InSettings,
    Key,
    Malformed,
    RequestName,
    ResourceAction,
    StoredAs,
    VerbOptions,
)

CATALOGUE = Catalogue()


class Exists(ApiError):
    code, status, message = 9601, 409, "Exists"


class Unknown(ApiError):
    code, status, message = 9602, 404, "Unknown"


class Unset(ApiError):
    code, status, message = 9604, 404, "Not set"


class BadTarget(ApiError):
    code, status, message = 9605, 400, "Bad target"


class BasicAuth(Wire):
    username: str | None = None
    password: Annotated[str | None, SECRET] = None


class HookAuthentication(Wire):
    auth_type: str | None = None
    basic_auth: BasicAuth | None = None


class Hook(Wire):
    hook_id: Annotated[str, Key("hookId", is_minted=True)]
    event: Annotated[str, FIXED, Field(max_length=50)]
    target_url: Annotated[str, FIXED, Malformed(BadTarget), Field(pattern="^https://", max_length=500)]
    name: Annotated[str | None, RequestName("DisplayName"), Field(max_length=60)] = None
    headers: dict[str, str] = Field(default_factory=dict, max_length=5)
    authentication: HookAuthentication | None = None
    created_date: Annotated[str | None, CREATED_AT] = None
    last_modified_date: Annotated[str | None, MODIFIED_AT] = None


class Tested(Wire):
    is_posted: bool
    target: str


HOOKS = resource(
    "sample_hooks", "/v2/manage/sample-hooks", Hook, (LIST, CREATE, READ, UPDATE, DELETE), noun="sample hook",
    kind="sample_hooks", scope="webhook", unique=("event", "target_url"), max_items=3, exists=Exists, unknown=Unknown,
    actions=(
        ResourceAction("test", "POST /v2/manage/sample-hooks/{hookId}/test", "Call the hook.", answer=Tested),
        ResourceAction("suspend", "PUT /v2/manage/sample-hooks/{hookId}/status", "Suspend the hook."),
    ),
    file_key="sample_hooks", audit="sample_hook",
)  # fmt: skip


class SampleClient(Wire):
    app_name: Annotated[str, Key("appName"), Field(pattern="^[A-Za-z][A-Za-z0-9_-]*$", max_length=60)]
    client_id: Annotated[str | None, Field(max_length=60)] = None
    client_secret: Annotated[str | None, ONCE] = None
    grants: list[str] = Field(default_factory=list)
    is_active: bool = True


CLIENTS = resource(
    "sample_clients", "/v2/manage/sample-clients", SampleClient, (LIST, CREATE, READ, UPDATE, DELETE), noun="sample client",
    kind="sample_clients", scope="client", partial=True, exists=Exists, unknown=Unknown,
    actions=(
        ResourceAction("rotate", "PUT /v2/manage/sample-clients/credentials/{appName}", "Make a new secret.", renews=("client_secret",)),
    ),
    file_key="sample_clients",
)  # fmt: skip


class GroupRole(Wire):
    id: Annotated[str, Key("groupRoleId", is_minted=True)]
    group_id: str
    name: str


GROUP_ROLES = resource(
    "sample_group_roles", "/v2/manage/sample-grouproles", GroupRole, (LIST, CREATE, UPDATE, DELETE),
    noun="group role", kind="sample_group_roles", scope="organization", unique=("group_id",), exists=Exists, unknown=Unknown,
)  # fmt: skip


class FormElement(Wire):
    name: Annotated[str, Key()]
    type: str = "string"
    rules: str | None = None


FORM = resource(
    "sample_form", "/v2/manage/sample-form", FormElement, (LIST, REPLACE), noun="form field", kind="sample_form",
    scope="security", exists=Exists, unknown=Unknown, is_paged=False, max_items=15,
)  # fmt: skip


class SampleText(Wire):
    type: Annotated[str, Key("textType")]
    name: Annotated[str, Key()]
    template: Annotated[str, StoredAs("body")]


TEXTS = resource(
    "sample_texts", "/v2/manage/sample-texts", SampleText, (VerbOptions(LIST, unknown=Unset), READ, CREATE, UPDATE, DELETE), noun="text",
    kind="sample_texts", scope="template", exists=Exists, unknown=Unknown, is_paged=False,
)  # fmt: skip


class DomainAccess(Wire):
    allowlist: Annotated[list[str], StoredAs("allow")] = Field(default_factory=list)
    blocklist: Annotated[list[str], StoredAs("block")] = Field(default_factory=list)


DOMAIN_ACCESS = resource(
    "sample_restrictions", "/v2/manage/sample-restrictions/domain-access", DomainAccess, (READ, UPDATE), noun="list",
    kind="domain_access", is_singleton=True, scope="security", backing=InSettings("email_access"), unset=Unset,
)  # fmt: skip


class CustomObject(Wire):
    name: Annotated[str, Key("objectName"), Field(pattern="^[A-Za-z0-9][A-Za-z0-9_.-]{0,99}$")]
    id: str | None = None
    max_records_per_account: int = 50


OBJECTS = resource(
    "sample_objects", "/v2/manage/sample-objects", CustomObject, (LIST, CREATE, READ, UPDATE, DELETE), noun="custom object",
    kind="sample_objects", scope="customobject", backing=InSettings("custom_objects", listed=True), exists=Exists, unknown=Unknown,
)  # fmt: skip

SAMPLES = (HOOKS, CLIENTS, GROUP_ROLES, FORM, TEXTS, DOMAIN_ACCESS, OBJECTS)


BOUND = [item for sample in SAMPLES for item in bound(sample, CATALOGUE)]


def _refuse_unknown_event(context: Context, before: Item | None, after: Item) -> None:
    if before is None and after.content["event"] == "Nothing":
        raise errors.BadField(f"Event: {context.tenant.name} has no such event.")


def _problems(content: Any, settings: TenantSettings | None) -> Iterator[tuple[str, str]]:
    if any(" " in name for name in content.headers):
        yield "headers", "names without spaces"


def _call(context: Context, item: Item, req: Wire) -> Tested:
    return Tested(is_posted=True, target=item.content["target_url"])


def _suspend(context: Context, item: Item, req: Wire) -> Item:
    return replace(item, content={**item.content, "name": "suspended"})


resource_registry.RULES[HOOKS] = Rules(
    problems=_problems, before_write=_refuse_unknown_event, actions={"test": _call, "suspend": _suspend}
)
