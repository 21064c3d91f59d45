"""The token hook: a tenant's server that adds claims to the tokens of applications, or denies them. The docstrings are published."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from app.contract.applications.application_urls import SecureUrl
from app.contract.applications.claims_mapping import Source
from app.contract.configuration_model import ConfigurationModel, Different
from app.contract.workflows.protected_claims import WorkflowClaim
from app.kit.operations.wire import Wire

TimeoutSeconds = Annotated[int, Field(ge=1, le=5)]
CacheSeconds = Annotated[int, Field(ge=0, le=3_600)]
SecretName = Annotated[str, Field(max_length=100)]
Sent = Annotated[tuple[Source, ...], Different, Field(max_length=50)]
Claimed = Annotated[tuple[WorkflowClaim, ...], Different, Field(max_length=20)]
HookFailure = Literal["continue", "deny"]

_URL = "The https address of your server."
_TIMEOUT = "How long your server has for its answer."
_ON_FAILURE = (
    "What happens if your server doesn't answer in time, or not as documented: `continue` issues tokens without its claims, and "
    "`deny` issues none."
)
_SEND = "Fields of the profile that your server gets, beside the account's ID."
_CLAIMS = "Claims that an answer may set."
_CACHED = "How long an answer serves the same person and application again. 0: each time, your server is asked."
_SECRET = "The name of the secret that signs the calls, beside the key of your webhooks."


class TokenHook(ConfigurationModel):
    """Your server that is asked before an application gets tokens of a person. It adds claims, or denies the tokens."""

    url: Annotated[SecureUrl, Field(description=_URL, examples=["https://hooks.acme.example/tokens"])]
    timeout_seconds: Annotated[TimeoutSeconds, Field(description=_TIMEOUT, examples=[2])] = 3
    on_failure: Annotated[HookFailure, Field(description=_ON_FAILURE, examples=["continue"])]
    send: Annotated[Sent, Field(description=_SEND, examples=[["Company"]])] = ()
    claims: Annotated[Claimed, Field(description=_CLAIMS, examples=[["tier"]])] = ()
    cache_seconds: Annotated[CacheSeconds, Field(description=_CACHED, examples=[300])] = 0
    secret_name: Annotated[SecretName, Field(description=_SECRET, examples=["tokens"])] = ""


class TokenHookMembers(Wire):
    """Your server that is asked before an application gets tokens of a person. It adds claims, or denies the tokens."""

    url: Annotated[SecureUrl, Field(description=_URL, examples=["https://hooks.acme.example/tokens"])]
    timeout_seconds: Annotated[TimeoutSeconds, Field(description=_TIMEOUT, examples=[2])] = 3
    on_failure: Annotated[HookFailure, Field(description=_ON_FAILURE, examples=["continue"])]
    send: Annotated[list[Source], Different, Field(max_length=50, description=_SEND, examples=[["Company"]])] = Field(
        default_factory=list
    )
    claims: Annotated[
        list[WorkflowClaim], Different, Field(max_length=20, description=_CLAIMS, examples=[["tier"]])
    ] = Field(default_factory=list)
    cache_seconds: Annotated[CacheSeconds, Field(description=_CACHED, examples=[300])] = 0
    secret_name: Annotated[SecretName, Field(description=_SECRET, examples=["tokens"])] = ""
