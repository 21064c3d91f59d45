"""The types of nodes that workflows are made of, with the members of a node’s `data`. The docstrings are published."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Final, Literal

from pydantic import AfterValidator, Field, StrictBool, StrictFloat, StrictInt, StrictStr, model_validator

from app.contract.applications.application_urls import SecureUrl
from app.contract.applications.claims_mapping import CUSTOM as CUSTOM_FIELDS
from app.contract.applications.claims_mapping import Source
from app.contract.configuration_model import ConfigurationModel, Different, Tag, plain
from app.contract.organizations.settings import SignInMethod
from app.contract.profile import FIELDS, Kind, Write
from app.contract.registration.form import OWN, FormField
from app.contract.second_factors.challenge import FactorKind
from app.contract.workflows import conditions
from app.contract.workflows.facts import is_known_before_sign_in
from app.contract.workflows.protected_claims import WorkflowClaim
from app.contract.workflows.token_hook import CacheSeconds, Claimed, SecretName, Sent, TimeoutSeconds
from app.kit.web.urls import origin_of

NEXT: Final = "next"
"""The output of a node that has only one. An edge without `sourceHandle` begins there."""
TRUE, FALSE = "true", "false"
LOW, MEDIUM, HIGH = "low", "medium", "high"
DENY, FAILURE = "deny", "failure"
RiskSignal = Literal["device", "browser", "city", "country", "ip"]


def _condition(text: str) -> str:
    conditions.parse(text)
    return text


def _form_field(name: str) -> str:
    if name in OWN or len(name) > _MAX_NAME or not _is_of_form(name):
        raise ValueError("a text field of the profile, such as first_name, or cf_ and the name of a custom field")
    return name


def _is_of_form(name: str) -> bool:
    try:
        return bool(FormField.model_validate({"name": name}))
    except ValueError:
        return False


def _settable(name: str) -> str:
    known = FIELDS.get(name)
    is_free = known is not None and known.kind is Kind.TEXT and known.write is Write.ANYONE
    if not is_free and not name.startswith(CUSTOM_FIELDS):
        raise ValueError("a text of the profile that people may change, such as Company, or CustomFields.NAME")
    return name


def _secure_origin(address: str) -> str:
    if not address.startswith("https://") or origin_of(plain(address)) != address:
        raise ValueError("an origin such as https://kyc.example.com, in lower case and without a path")
    return address


_MAX_NAME: Final = 80
Sentence = Annotated[str, Field(min_length=1, max_length=500, pattern=r"\S")]
Texts = Annotated[dict[Tag, Sentence], Field(max_length=30)]
"""A plain text by language."""
ClaimValue = StrictBool | StrictInt | StrictFloat | Annotated[StrictStr, Field(max_length=500)]


class NodeData(ConfigurationModel):
    """What every node may have."""

    outputs: ClassVar[tuple[str, ...]] = (NEXT,)
    """Each needs an edge."""
    optional_outputs: ClassVar[tuple[str, ...]] = ()
    is_entry: ClassVar[bool] = False
    """Whether it tells which account signs in."""
    is_final: ClassVar[bool] = False

    label: Annotated[str, Field(max_length=100)] = ""  # what an editor shows

    @property
    def needs_account(self) -> bool:
        """Whether it stands after an entry."""
        return True

    @property
    def texts(self) -> Mapping[str, Mapping[str, str]]:
        """The texts that people read, by member."""
        return {}


class StartNode(NodeData):
    """Where every sign-in begins. With `on_refresh`, refreshing a token runs the workflow as well."""

    on_refresh: bool = False

    @property
    def needs_account(self) -> bool:
        return False


class LoginNode(NodeData):
    """A sign-in by one of the `methods`; without them, by each that the tenant offers."""

    is_entry: ClassVar[bool] = True

    methods: Annotated[tuple[SignInMethod, ...], Different] = ()


class RegisterNode(NodeData):
    """A registration. People who have an account sign in instead."""

    is_entry: ClassVar[bool] = True


class PasskeyLoginNode(NodeData):
    """A sign-in by a passkey alone."""

    is_entry: ClassVar[bool] = True


class MfaNode(NodeData):
    """Requires a second factor, unless the sign-in passed one of `factors` already; without them, any that the tenant offers."""

    factors: Annotated[tuple[FactorKind, ...], Different] = ()


class ConsentNode(NodeData):
    """Asks for the tenant’s consent forms that are due."""


class ProfileFormNode(NodeData):
    """Asks for those of the `fields` that the profile lacks."""

    fields: Annotated[
        tuple[Annotated[str, AfterValidator(_form_field)], ...], Different, Field(min_length=1, max_length=20)
    ]


class TermsNode(NodeData):
    """Requires that the privacy policy was accepted: this `version`, or without one the current version."""

    version: Annotated[str, Field(max_length=50)] = ""


class ConditionNode(NodeData):
    """Continues at `true` or at `false`."""

    outputs: ClassVar[tuple[str, ...]] = (TRUE, FALSE)

    expression: Annotated[str, AfterValidator(_condition)]

    @property
    def needs_account(self) -> bool:
        return not all(is_known_before_sign_in(name) for name in conditions.parse(self.expression).names())


class RiskNode(NodeData):
    """Continues at `high` if one of the signals in `high` is new for the account, at `medium` if one of those in `medium` is, else at
    `low`. Only signals that the tenant’s `risk` settings watch are ever new."""

    outputs: ClassVar[tuple[str, ...]] = (LOW, MEDIUM, HIGH)

    medium: Annotated[tuple[RiskSignal, ...], Different] = ("device", "browser", "city")
    high: Annotated[tuple[RiskSignal, ...], Different] = ("country",)

    @model_validator(mode="after")
    def _agrees(self) -> RiskNode:
        if both := set(self.medium) & set(self.high):
            raise ValueError(f"high: without {min(both)}, which medium has")
        if not self.medium and not self.high:
            raise ValueError("high: at least one signal in medium or high")
        return self


class HttpCallNode(NodeData):
    """Asks your server. Its answer continues, denies, requires a second factor, or sets the `claims` and `profile_fields` named here. If
    it doesn’t answer in time or as documented, the sign-in goes on at the output `failure`; without an edge there, `on_failure` decides.
    The same goes for `deny`: without an edge, the sign-in is refused with the answer’s text, or with `deny_text`. An answer can send the
    person to a page at one of the `redirect_origins`, from which they come back with a signed result."""

    optional_outputs: ClassVar[tuple[str, ...]] = (DENY, FAILURE)

    url: SecureUrl
    timeout_seconds: TimeoutSeconds = 3
    on_failure: Literal["continue", "deny", "step_up"]
    deny_text: Texts = Field(default_factory=dict)
    secret_name: SecretName = ""
    send: Sent = ()
    claims: Claimed = ()
    profile_fields: Annotated[
        tuple[Annotated[Source, AfterValidator(_settable)], ...], Different, Field(max_length=20)
    ] = ()
    redirect_origins: Annotated[
        tuple[Annotated[str, Field(max_length=300), AfterValidator(_secure_origin)], ...],
        Different,
        Field(max_length=10),
    ] = ()
    cache_seconds: CacheSeconds = 0

    @property
    def texts(self) -> Mapping[str, Mapping[str, str]]:
        return {"deny_text": self.deny_text} if self.deny_text else {}


class DenyNode(NodeData):
    """Refuses the sign-in. The person reads the text in their language, or in the tenant’s default language."""

    outputs: ClassVar[tuple[str, ...]] = ()
    is_final: ClassVar[bool] = True

    text: Annotated[Texts, Field(min_length=1)]

    @property
    def needs_account(self) -> bool:
        return False

    @property
    def texts(self) -> Mapping[str, Mapping[str, str]]:
        return {"text": self.text}


class SuccessFinalNode(NodeData):
    """Completes the sign-in; tokens of the application get the `claims`."""

    outputs: ClassVar[tuple[str, ...]] = ()
    is_final: ClassVar[bool] = True

    claims: Annotated[dict[WorkflowClaim, ClaimValue], Field(max_length=20)] = Field(default_factory=dict)


class FailureFinalNode(NodeData):
    """Ends the sign-in without success."""

    outputs: ClassVar[tuple[str, ...]] = ()
    is_final: ClassVar[bool] = True

    text: Texts = Field(default_factory=dict)

    @property
    def needs_account(self) -> bool:
        return False

    @property
    def texts(self) -> Mapping[str, Mapping[str, str]]:
        return {"text": self.text} if self.text else {}


NODE_TYPES: Final[Mapping[str, type[NodeData]]] = {
    "Start": StartNode,
    "Login": LoginNode,
    "Register": RegisterNode,
    "PasskeyLogin": PasskeyLoginNode,
    "MFA": MfaNode,
    "Consent": ConsentNode,
    "ProfileForm": ProfileFormNode,
    "Terms": TermsNode,
    "Condition": ConditionNode,
    "Risk": RiskNode,
    "HttpCall": HttpCallNode,
    "Deny": DenyNode,
    "SuccessFinalNode": SuccessFinalNode,
    "FailureFinalNode": FailureFinalNode,
}
"""The types by the name that a node’s `type` has. A workflow with another type is stored, and never runs."""


def needs_every_scope(data: NodeData) -> bool:
    """Return whether only programs with every scope may write the node: it sends profiles, sets claims or refuses people."""
    has_claims: Any = getattr(data, "claims", ())
    return isinstance(data, HttpCallNode | DenyNode | FailureFinalNode) or bool(has_claims)
