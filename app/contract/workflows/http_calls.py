"""What a workflow sends to a tenant's server, and what the server may answer. The docstrings are published.

Members have exact spellings, and an answer with anything else counts as none: a server that means to refuse somebody must not be
misread.
"""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal
from urllib.parse import parse_qsl, urlsplit

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StrictBool, StrictStr, model_validator

from app.contract.applications.application_urls import SecureUrl
from app.contract.configuration_model import Tag
from app.contract.workflows.nodes import Sentence
from app.contract.workflows.protected_claims import WorkflowClaim
from app.kit.operations.wire import pascal

CALL_TYPE: Final = "workflow.call"
MAX_ANSWER_BYTES: Final = 64_000
MAX_CLAIM_BYTES: Final = 2_000
"""Of an answer's claims as JSON: servers accept 8 KiB of headers, and tokens travel there."""
_MAX_INTEGER: Final = 2**53
CONTINUE, DENY, STEP_UP, REDIRECT = "continue", "deny", "step_up", "redirect"
STATE: Final = "state"
"""The parameter that a redirect adds to the address of the page."""


class _Sent(BaseModel):
    model_config = ConfigDict(alias_generator=pascal, populate_by_name=True, frozen=True, defer_build=True)


class CalledWorkflow(_Sent):
    """The workflow that calls: its ID, its name, and the version that the sign-in follows."""

    id: str
    name: str
    version: int


class CalledAccount(BaseModel):
    """The account: its `Uid`, and the fields of the profile that the node’s `send` names."""

    model_config = ConfigDict(extra="allow", frozen=True, defer_build=True)

    uid: Annotated[str, Field(alias="Uid")]


class CalledSignIn(_Sent):
    """The sign-in: the methods passed so far, the connection of a sign-in with an identity provider, and where it comes from."""

    methods: tuple[str, ...]
    provider: str | None
    ip_address: str
    user_agent: str
    client_id: str | None
    is_refresh: bool = False


class WorkflowSignIn(CalledSignIn):
    """The sign-in of a workflow. `ReturnUrl` is the address at which a page of yours sends the person back; null where the answer can’t be
    `redirect`, because no page shows it."""

    return_url: str | None = None


class _Request(_Sent):
    id: str

    def to_json(self) -> bytes:
        """Return the body."""
        return self.__pydantic_serializer__.to_json(self, by_alias=True)


class CallRequest(_Request):
    """The body of a call. `Id` is unique for each call, and the header `webhook-id` repeats it."""

    type: Literal["workflow.call"] = "workflow.call"
    time: str
    workflow: CalledWorkflow
    node: str
    account: CalledAccount
    sign_in: WorkflowSignIn


class TokenHookRequest(_Request):
    """The body of a call by a token hook, before an application gets tokens of the account."""

    type: Literal["token.call"] = "token.call"
    time: str
    account: CalledAccount
    sign_in: CalledSignIn


def _text(text: str) -> str:
    if any(letter < " " or letter == "\x7f" for letter in text):
        raise ValueError("a text without control characters")
    return text


def _number(value: float) -> float:
    if abs(value) > _MAX_INTEGER:
        raise ValueError(f"a number up to {_MAX_INTEGER}")
    return value


def _page(address: str) -> str:
    if STATE in dict(parse_qsl(urlsplit(address).query, keep_blank_values=True)):
        raise ValueError(f"an address without the parameter {STATE}, which is ours")
    return address


_Text = Annotated[StrictStr, Field(max_length=500), AfterValidator(_text)]
_Integer = Annotated[int, Field(strict=True), AfterValidator(_number)]
_Float = Annotated[float, Field(strict=True, allow_inf_nan=False), AfterValidator(_number)]
AnswerValue = StrictBool | _Integer | _Float | _Text | Annotated[list[_Text], Field(max_length=50)]


_Claims = Annotated[dict[WorkflowClaim, AnswerValue], Field(max_length=20)]
_ANSWERED = ConfigDict(alias_generator=pascal, extra="forbid", frozen=True, strict=True, defer_build=True)


class CallResponse(BaseModel):
    """The answer to a call, as JSON with status 200. `Text` belongs to `deny`, `Url` to `redirect`, `Claims` and `Profile` to others."""

    model_config = _ANSWERED

    action: Literal["continue", "deny", "step_up", "redirect"]
    url: Annotated[SecureUrl, AfterValidator(_page)] | None = None
    text: Annotated[dict[Tag, Annotated[Sentence, AfterValidator(_text)]], Field(max_length=30)] = Field(
        default_factory=dict
    )
    claims: _Claims = Field(default_factory=dict)
    profile: Annotated[
        dict[str, Annotated[StrictStr, Field(max_length=1_000), AfterValidator(_text)] | None], Field(max_length=20)
    ] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _agrees(self) -> CallResponse:
        if self.action in (DENY, REDIRECT) and (self.claims or self.profile):
            raise ValueError(f"no Claims and no Profile with {self.action}")
        if self.action != DENY and self.text:
            raise ValueError("Text only with deny")
        if (self.action == REDIRECT) is not bool(self.url):
            raise ValueError("Url with redirect, and only there")
        return self


class TokenHookResponse(BaseModel):
    """The answer to a call by a token hook, as JSON with status 200. `Claims` belong to `continue`."""

    model_config = _ANSWERED

    action: Literal["continue", "deny"]
    claims: _Claims = Field(default_factory=dict)

    @model_validator(mode="after")
    def _agrees(self) -> TokenHookResponse:
        if self.action == DENY and self.claims:
            raise ValueError("no Claims with deny")
        return self


def answer_schema() -> dict[str, Any]:
    """Return the JSON Schema of an answer."""
    schema = CallResponse.model_json_schema(by_alias=True)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema, "title": "An answer to a call"}
