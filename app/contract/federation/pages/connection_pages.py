"""Operations for sign-ins through connections."""

import re
from typing import Annotated, Final

from pydantic import Field

from app.contract import errors
from app.contract.catalogue import HASHES_SECRETS, hub_operation
from app.contract.page_models import InteractionDecision
from app.contract.registration.registration_operations import REGISTRATION_ERRORS
from app.contract.registration.registration_pages import RegisterRequest
from app.contract.sign_in.sign_in_pages import SIGN_IN_ERRORS
from app.contract.steps import StepResponse
from app.kit.operations.wire import From, Wire

Text = Annotated[str, Field(max_length=4_000)]
MAX_SAML_LENGTH: Final = 262_145
"""One character more than the gate takes of a message: it says itself that a message is too long."""
CALLBACK: Final = "/socialauth/validate.sauth"
"""The path of the redirect URI that tenants register at their providers."""
ORGANIZATION_CALLBACK: Final = "/oauth/sp/{address_key}/callback"
ORGANIZATION_LOGIN: Final = "/oauth/sp/{address_key}/login"
"""The paths of an organization's connection: of its redirect URI, and where a browser signs in by it."""
CONFIRM: Final = "/sign-in/confirm"
"""The page that asks before an answer signs in that its browser didn't ask for."""
SAML_PREFIX: Final = "/saml/"
SAML_ENTITY: Final = "/saml/sp/{address_key}"
SAML_METADATA: Final = "/saml/sp/{address_key}/metadata.xml"
SAML_ACS: Final = "/saml/sp/acs/{address_key}"
SAML_CALLBACK: Final = "/saml/serviceprovider/SpInitiatedACS.aspx"
SAML_ADFS_CALLBACK: Final = "/saml/serviceprovider/AdfsACS.aspx"
"""Where answers of all SAML providers of a tenant come to."""
SAML_PROVIDER_ACS: Final = "/saml/serviceprovider/acs/{provider_id}"
"""Where answers of one SAML provider come to that begins sign-ins: a shared address cannot tell whose keys to trust."""
SAML_LOGOUT: Final = "/saml/sp/{address_key}/logout"
"""The paths of a SAML connection: the first is its entity ID, and where a browser signs in by it."""


def is_organization_connection(name: str) -> bool:
    """Return whether the name of a connection is the id of an organization's: a tenant's name has no capital letter."""
    return re.fullmatch(r"conn_[A-Za-z0-9]{16}", name) is not None


def callback_path(address_key: str, *, is_saml: bool = False) -> str:
    """Return the path at which answers come: that of the tenant, or of an organization's connection by its opaque part."""
    if not address_key:
        return SAML_CALLBACK if is_saml else CALLBACK
    return (SAML_ACS if is_saml else ORGANIZATION_CALLBACK).format(address_key=address_key)


class ConnectionStart(Wire):
    """`provider` is the connection's name; `interaction_id` as at sign-in."""

    provider: Annotated[str, Field(max_length=100)]
    interaction_id: str | None = None
    login_hint: Annotated[str, Field(max_length=320)] = ""  # typed on the sign-in page


class OrganizationStart(Wire):
    """A link to an organization's connection, by the opaque part of its addresses."""

    address_key: Annotated[str, Field(max_length=100)]
    return_url: Annotated[str | None, Field(max_length=2_000)] = None
    login_hint: Annotated[str, Field(max_length=320)] = ""


class DomainLookUp(Wire):
    """What was typed on the first step of a sign-in."""

    identifier: Annotated[str, Field(max_length=320)]
    interaction_id: str | None = None


class ConnectionHandler(Wire):
    """A program's link to a connection, with the callback. `social_app_name` names one of several connections to the provider."""

    provider: Annotated[str, Field(max_length=100)]
    social_app_name: Annotated[str | None, Field(max_length=100)] = None
    scope: Annotated[str, Field(max_length=501)] = ""  # further scopes of the provider, up to 500 characters
    api_key: str | None = None
    callback: Annotated[str | None, Field(max_length=2_000)] = None
    callback_type: Annotated[str, Field(max_length=20)] = ""  # Post, QueryString or hash
    is_access_token: bool = False  # return the access token itself
    ac_linking: bool = False  # return a token that links an account; no sign-in
    disable_sign_up: bool = False
    callback_guid: Annotated[str | None, Field(max_length=100)] = None  # no callback: the program polls with it


class ConnectionCallback(Wire):
    """The provider's authorization response (RFC 6749 section 4.1.2, RFC 9207); `user` is Apple's, with the person's name."""

    state: Text
    code: Text = ""
    error: Text = ""
    iss: Text = ""
    user: Text = ""
    address_key: Annotated[str, Field(max_length=100)] = ""  # of the organization's callback; empty for the tenant's
    is_saml: bool = False  # an answer that was posted and accepted before


class SamlAnswer(Wire):
    """The form that a SAML provider posts (SAML V2.0 Bindings, section 3.5): all values of its parameters, at most two of each.

    `path` is that of the address, as it is registered at the provider; it has one of the ids, or is shared.
    """

    path: Annotated[str, Field(max_length=200)]
    address_key: Annotated[str, Field(max_length=100)] = ""  # of an organization's connection
    provider_id: Annotated[str, Field(max_length=100)] = ""  # of the tenant's provider
    query: Annotated[str, Field(max_length=MAX_SAML_LENGTH)] = ""  # of a redirect, as received, in place of a form
    messages: Annotated[list[Annotated[str, Field(max_length=MAX_SAML_LENGTH)]], Field(max_length=2)] = []
    relay_states: Annotated[list[Text], Field(max_length=2)] = []
    is_request: bool = True  # of a sign-out: the provider asks for it, or answers ours


class SamlMetadata(Wire):
    """The metadata of this service for one connection, as XML."""

    document: str


class UnsolicitedAnswer(Wire):
    """An accepted answer that this browser didn't ask for."""

    answer: Annotated[str, Field(max_length=100)]


class ForeignState(Wire):
    """The state of a callback in a browser that has no such interaction."""

    state: Text


class StateReported(Wire):
    """The state was looked up; the response is the same for every state."""


class ConnectedProfileRequest(Wire):
    interaction_id: Annotated[str, From.QUERY]


class ConnectedProfile(Wire):
    """The provider's profile of a person without an account; it prefills the registration page."""

    title: str
    fields: dict[str, str] = Field(default_factory=dict)  # by the field names of the tenant's form


_NOT_THERE = (errors.UnknownConnection, errors.ConnectionNotConfigured)

begin = hub_operation(
    "hub.start_connection", "POST /hub/connections/start", ConnectionStart, StepResponse, errors=_NOT_THERE,
    summary="Start a sign-in through a provider: REDIRECT to it.",
)  # fmt: skip
begin_for_organization = hub_operation(
    "hub.start_organization_connection", "POST /hub/connections/organizations/start", OrganizationStart, StepResponse,
    errors=_NOT_THERE,
    summary="Start a sign-in through an organization’s connection: REDIRECT to its provider.",
)  # fmt: skip
find = hub_operation(
    "hub.find_connection", "POST /hub/connections/find", DomainLookUp, StepResponse,
    summary="Find the provider to which an address leads by its domain: LOGIN with its connection, REDIRECT to it, or LOGIN.",
)  # fmt: skip
handle = hub_operation(
    "hub.handle_connection", "POST /hub/connections/handle", ConnectionHandler, StepResponse,
    errors=(*_NOT_THERE, errors.NoCallbackLoginOff, errors.WrongClientGuid, errors.ClientGuidTaken, errors.UnknownKey),
    summary="Start a sign-in through a provider for a program, and return to the program afterwards.",
)  # fmt: skip
finish = hub_operation(
    "hub.finish_connection", "POST /hub/connections/finish", ConnectionCallback, StepResponse,
    heavy_work=HASHES_SECRETS, errors=SIGN_IN_ERRORS,
    summary="Process the provider's response: sign in, link, register, or ask first.",
)  # fmt: skip
register = hub_operation(
    "hub.register_for_organization", "POST /hub/connections/register", RegisterRequest, StepResponse,
    heavy_work=HASHES_SECRETS, errors=(*REGISTRATION_ERRORS, *SIGN_IN_ERRORS),
    summary="Register a person of an organization’s connection with the tenant’s form, and sign in. The address is the provider’s.",
)  # fmt: skip
accept_saml = hub_operation(
    "hub.accept_saml_answer", "POST /hub/connections/saml", SamlAnswer, StepResponse,
    errors=(*_NOT_THERE, errors.ProviderFailed),
    summary="Accept the posted answer of a SAML provider, once: REDIRECT to where the browser is back with its cookies.",
)  # fmt: skip
end_saml_sessions = hub_operation(
    "hub.end_saml_sessions", "POST /hub/connections/saml/logout", SamlAnswer, StepResponse,
    errors=(*_NOT_THERE, errors.ProviderFailed),
    summary="End the sessions that a SAML provider signs out, or go on after its answer: REDIRECT, FORM_POST, or SIGNED_OUT.",
)  # fmt: skip
read_metadata = hub_operation(
    "hub.read_saml_metadata", "POST /hub/connections/saml/metadata", OrganizationStart, SamlMetadata,
    errors=(errors.ConnectionNotConfigured,),
    summary="Read the metadata that the identity provider of a SAML connection needs.",
)  # fmt: skip
read_unsolicited = hub_operation(
    "hub.read_unsolicited_answer", "POST /hub/connections/saml/unsolicited/read", UnsolicitedAnswer, ConnectedProfile,
    errors=(errors.UnknownConnection,),
    summary="Read whom an answer signs in that this browser didn’t ask for.",
)  # fmt: skip
confirm_unsolicited = hub_operation(
    "hub.confirm_unsolicited_answer", "POST /hub/connections/saml/unsolicited", UnsolicitedAnswer, StepResponse,
    heavy_work=HASHES_SECRETS, errors=(errors.UnknownConnection, *SIGN_IN_ERRORS),
    summary="Sign in by an answer that this browser didn’t ask for, once.",
)  # fmt: skip
report_state = hub_operation(
    "hub.report_state", "POST /hub/connections/foreign-state", ForeignState, StateReported,
    summary="Record that a provider's response came to another browser than the one that began, if the state is open.",
)  # fmt: skip
decide_handoff = hub_operation(
    "hub.decide_handoff", "POST /hub/connections/hand-over", InteractionDecision, StepResponse,
    summary="Approve or deny the sign-in on another device with the result of this interaction.",
)  # fmt: skip
decide_switch = hub_operation(
    "hub.decide_account_switch", "POST /hub/connections/switch-account", InteractionDecision, StepResponse,
    heavy_work=HASHES_SECRETS, errors=SIGN_IN_ERRORS,
    summary="Switch to the account that a provider’s response signs in, or stay signed in to the current one.",
)  # fmt: skip
read_profile = hub_operation(
    "hub.read_connected_profile", "GET /hub/connections/connected", ConnectedProfileRequest, ConnectedProfile,
    errors=(errors.UnknownAccount,),
    summary="Read the provider's profile of the person who registers in this interaction.",
)  # fmt: skip
