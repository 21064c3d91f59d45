"""Management programs keep workflows. The docstrings are published."""

from typing import Annotated, Any

from pydantic import Field

from app.contract import errors
from app.contract.auth import MACHINE_TOKEN
from app.contract.catalogue import operation
from app.contract.error_profiles import MANAGE
from app.contract.resources import collection, singleton
from app.contract.tenants.branding import ThemeName
from app.contract.workflows.names import WorkflowName
from app.contract.workflows.token_hook import TokenHookMembers
from app.kit.operations.wire import From, Wire
from app.kit.resources.resource import (
    COMPUTED,
    CREATE,
    CREATED_AT,
    DELETE,
    LIST,
    MODIFIED_AT,
    READ,
    READ_ONLY,
    UPDATE,
    VERSION,
    InSettings,
    InTable,
    Key,
    NotListed,
    ResponseType,
    SettingsKey,
    VerbOptions,
)

MAX_WORKFLOWS = 100
FORMER_VERSIONS = 50


_EXAMPLE = {
    "nodes": [
        {"id": "start", "type": "Start"},
        {"id": "login", "type": "Login"},
        {"id": "mfa", "type": "MFA"},
        {"id": "end", "type": "SuccessFinalNode"},
    ],
    "edges": [
        {"id": "1", "source": "start", "sourceHandle": "next", "target": "login"},
        {"id": "2", "source": "login", "sourceHandle": "next", "target": "mfa"},
        {"id": "3", "source": "mfa", "sourceHandle": "next", "target": "end"},
    ],
}


VersionNumber = Annotated[int, Field(ge=1, le=2_000_000_000)]


class Workflow(Wire):
    """The steps of a sign-in, as a graph: nodes, and edges that lead from an output of a node to the next node."""

    id: Annotated[str, Key("workflowId", is_minted=True)]
    name: Annotated[
        WorkflowName,
        Field(description="The name, by which applications and sign-ins choose it.", examples=["Partners"]),
    ]
    theme_name: Annotated[
        ThemeName,
        Field(description="The theme of the pages of its sign-ins. Empty: the active one.", examples=["Spring"]),
    ] = ""
    data: Annotated[
        dict[str, Any],
        NotListed(),
        Field(
            description="The graph: `nodes` with `id`, `type` and `data`, and `edges` with `id`, `source`, `sourceHandle` and `target`. "
            "Positions, styles and other members of editors stay as they are.",
            examples=[_EXAMPLE],
        ),
    ]
    version: Annotated[
        VersionNumber | None,
        VERSION,
        ResponseType(int),
        Field(
            description="Grows by one with each update. An update that sends the version it was made to is refused with 8196 if there "
            "is a newer one; without it, the last update wins."
        ),
    ] = None
    is_runnable: Annotated[bool, READ_ONLY, Field(description="Whether sign-ins can follow it.")] = False
    problems: Annotated[
        list[str],
        READ_ONLY,
        NotListed(),
        Field(
            description="Why it can’t run, such as a node type that Gatehouse doesn’t have, or a `Login` that takes only methods that the "
            "tenant doesn’t offer."
        ),
    ] = Field(default_factory=list)
    created_date: Annotated[str | None, CREATED_AT] = None
    last_modified_date: Annotated[str | None, MODIFIED_AT] = None


WORKFLOWS = collection(
    "workflows", "/v2/manage/workflows", Workflow, noun="workflow",
    verbs=(LIST, CREATE, READ, *(VerbOptions(verb, errors=(errors.WorkflowInUse,)) for verb in (UPDATE, DELETE))),
    about="A workflow is the way that people take when they sign in, drawn as a graph.",
    scope="workflow", backing=InTable(former_versions=FORMER_VERSIONS), max_items=MAX_WORKFLOWS,
    unique=("name",), exists=errors.BadField, unknown=errors.UnknownWorkflow, outdated=errors.WorkflowChanged,
    file_key="workflows", file_note="The ways that people take when they sign in. A workflow is known by its name.",
)  # fmt: skip


class DefaultWorkflow(Wire):
    """The workflow that sign-ins follow whose application names none."""

    workflow_name: Annotated[
        WorkflowName | None,
        SettingsKey("default_workflow"),
        Field(
            description="The name of a workflow that can run, or null: then only the settings decide.",
            examples=["Partners"],
        ),
    ] = None


DEFAULT_WORKFLOW = singleton(
    "default_workflow", "/v2/manage/default-workflow", DefaultWorkflow, verbs=(READ, UPDATE), noun="default workflow",
    kind="default_workflow", scope="workflow", backing=InSettings(),
    about="The default workflow is the one that sign-ins follow whose application names none.",
)  # fmt: skip


class ChosenTokenHook(Wire):
    """The token hook of applications that have none of their own."""

    token_hook: Annotated[
        TokenHookMembers | None,
        COMPUTED,
        Field(description="The token hook, or null: then no server is asked."),
    ] = None


TOKEN_HOOK = singleton(
    "token_hook", "/v2/manage/token-hook", ChosenTokenHook, verbs=(READ, UPDATE), noun="token hook",
    kind="token_hook", scope="workflow", backing=InSettings(),
    about="The token hook is a server of yours that adds claims to the tokens of applications, or denies them.",
)  # fmt: skip


class WorkflowOf(Wire):
    workflow_id: Annotated[str, From.PATH, Field(alias="workflowId")]


class WorkflowVersionOf(WorkflowOf):
    version: Annotated[
        int, From.PATH, Field(alias="version", ge=1, le=2_000_000_000, description="The number of the version.")
    ]


class WorkflowVersionEntry(Wire):
    """A version of a workflow, without its graph."""

    version: Annotated[int, Field(description="The number of the version.")]
    written_date: Annotated[str, Field(description="When this version was saved.")]


class WorkflowVersions(Wire):
    """The versions of a workflow, the newest first."""

    data: Annotated[list[WorkflowVersionEntry], Field(description="The versions.")]


class WorkflowVersion(WorkflowVersionEntry):
    """A workflow as it was with this version."""

    id: str
    name: str
    theme_name: str
    data: dict[str, Any]


_VERSIONS = "/v2/manage/workflows/{workflowId}/versions"
list_versions = operation(
    "workflows.list_versions", f"GET {_VERSIONS}", WorkflowOf, WorkflowVersions, auth=MACHINE_TOKEN, scope="workflow:read",
    error_profile=MANAGE, errors=(errors.UnknownWorkflow,), summary="List versions of a workflow",
    description=f"Returns the current version of a workflow, and the last {FORMER_VERSIONS} that it replaced. Each update adds one.",
)  # fmt: skip
read_version = operation(
    "workflows.read_version", f"GET {_VERSIONS}/{{version}}", WorkflowVersionOf, WorkflowVersion, auth=MACHINE_TOKEN,
    scope="workflow:read", error_profile=MANAGE, errors=(errors.UnknownWorkflow,), summary="Get a version of a workflow",
    description="Returns a workflow as it was with a version. To restore it, update the workflow with its `Name`, `ThemeName` and "
    "`Data`.",
)  # fmt: skip
