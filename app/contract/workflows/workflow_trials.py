"""Programs try a draft of a workflow on past sign-ins. The docstrings are published."""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal

from pydantic import Field

from app.contract import errors
from app.contract.auth import MACHINE_TOKEN
from app.contract.catalogue import operation
from app.contract.configuration_model import Moment
from app.contract.error_profiles import MANAGE
from app.kit.operations.operation import HeavyWork
from app.kit.operations.wire import Wire

MAX_SIGN_INS: Final = 50_000
DEFAULT_DAYS: Final = 30
TRIES: Final = HeavyWork("list")
AssumedCall = Literal["Unknown", "Continue", "Deny", "Failure"]


class TryWorkflow(Wire):
    """A draft, the time whose sign-ins it is tried on, and what its calls are assumed to answer."""

    data: Annotated[dict[str, Any], Field(description="The graph, as a workflow has it.")]
    since: Annotated[
        Moment | None,
        Field(
            description=f"The first moment of the sign-ins; a date means its beginning. Default: {DEFAULT_DAYS} days before `Until`.",
            examples=["2027-01-01"],
        ),
    ] = None
    until: Annotated[
        Moment | None,
        Field(description="The moment after the last sign-in. Default: now.", examples=["2027-01-31T00:00:00Z"]),
    ] = None
    assume_calls: Annotated[
        AssumedCall,
        Field(
            description="What the servers of HttpCall nodes are assumed to answer, because a trial calls nobody. `Unknown` counts the "
            "sign-in as undecided there; `Failure` does what the node states for a server that doesn’t answer."
        ),
    ] = "Unknown"


class TriedStep(Wire):
    """What a node would have done. Each sign-in that reached the node left at one of its `Outputs`, ended there, or is unknown."""

    node: Annotated[str, Field(description="The node’s ID.", examples=["mfa"])]
    type: Annotated[str, Field(description="The node’s type.", examples=["MFA"])]
    label: Annotated[
        str, Field(description="The node’s label, if it has one.", examples=["Second factor for partners"])
    ]
    reached: Annotated[int, Field(description="How many sign-ins reached the node.", examples=[1200])]
    outputs: Annotated[dict[str, int], Field(description="How many went on at each output.", examples=[{"next": 1200}])]
    stopped: Annotated[int, Field(description="How many the node would have stopped.", examples=[0])]
    asked: Annotated[
        int,
        Field(
            description="How many would have been asked: for a second factor, or for what the node requires.",
            examples=[312],
        ),
    ]
    unknown: Annotated[
        int,
        Field(
            description="For how many the audit log doesn’t tell: which output they took, or, at a node with one output, whether they "
            "would have been asked.",
            examples=[17],
        ),
    ]


class UnknownFact(Wire):
    """A fact that a condition needs, and the number of sign-ins that reached the condition without it in the audit log."""

    name: Annotated[str, Field(description="The fact’s name in conditions.", examples=["sign_in.methods"])]
    sign_ins: Annotated[int, Field(description="The number of sign-ins.", examples=[17])]


class WorkflowTrial(Wire):
    """What a draft would have done. Past sign-ins are those that succeeded."""

    since: Annotated[str, Field(description="The first moment of the sign-ins.")]
    until: Annotated[str, Field(description="The moment after the last sign-in.")]
    is_complete: Annotated[
        bool,
        Field(
            description="Whether all sign-ins of the time were tried. One request tries the last "
            f"{MAX_SIGN_INS:,} before `Until`; repeat it with `Until` set to `Oldest` for earlier ones."
        ),
    ]
    oldest: Annotated[str | None, Field(description="The moment of the oldest sign-in that was tried.")] = None
    sign_ins: Annotated[int, Field(description="The number of sign-ins.", examples=[1_200])]
    passed: Annotated[
        int, Field(description="How many would have been completed, with what was asked.", examples=[1_142])
    ]
    stopped: Annotated[int, Field(description="How many would have been stopped.", examples=[41])]
    unknown: Annotated[int, Field(description="How many are undecided.", examples=[17])]
    asked_for_factor: Annotated[
        int,
        Field(description="How many would have been asked for a second factor that they didn’t pass.", examples=[312]),
    ]
    asked_to_act: Annotated[
        int,
        Field(
            description="How many would have been asked for fields of the profile, or to accept the privacy policy.",
            examples=[5],
        ),
    ]
    steps: Annotated[list[TriedStep], Field(description="Each node that can be reached, in the order of the graph.")]
    unknown_facts: Annotated[
        list[UnknownFact],
        Field(
            description="The facts that the audit log doesn’t have for some sign-ins. They count as unknown, not as false."
        ),
    ]
    current_facts: Annotated[
        list[str],
        Field(
            description="The facts of the draft that are read from the account as it is now, because the audit log doesn’t keep them.",
            examples=[["account.country"]],
        ),
    ]


try_workflow = operation(
    "workflows.try_workflow", "POST /v2/manage/workflows/try", TryWorkflow, WorkflowTrial, auth=MACHINE_TOKEN, scope="workflow:read",
    heavy_work=TRIES, error_profile=MANAGE, errors=(errors.TooManyRequests,), summary="Try a draft of a workflow",
    description="Follows a draft with the sign-ins that the audit log has, and returns what it would have done, by node. It changes "
    "nothing, asks nobody and calls no server. A draft that compares facts of accounts needs the scope `profile:read` too.",
)  # fmt: skip
