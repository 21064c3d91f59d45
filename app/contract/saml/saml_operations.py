"""Management programs read and write SAML clients and SAML custom providers.

A SAML client is a service provider to which the tenant is the identity provider; a SAML custom provider is an identity provider to
which the tenant is the service provider. Service providers send browsers to the addresses of single sign-on (SAML V2.0 Profiles,
section 4.1). The docstrings are published."""

from typing import Annotated, Final, Literal

from pydantic import Field

from app.contract import errors
from app.contract.auth import MACHINE_TOKEN, Host
from app.contract.catalogue import hub_operation, operation
from app.contract.error_profiles import MANAGE, SAML, SIGN_ON
from app.contract.federation.oauth_providers import FIELDS, ProviderDomain
from app.contract.resources import collection
from app.contract.steps import StepResponse
from app.kit.operations.wire import Document, From, Wire
from app.kit.resources.resource import (  # fmt: skip
    CREATE,
    CREATED_AT,
    DELETE,
    LIST,
    MODIFIED_AT,
    READ,
    READ_ONLY,
    SECRET,
    UPDATE,
    Key,
    ResourceAction,
)

LOGIN_PATH: Final = "/service/saml/idp/login"
LOGOUT_PATH: Final = "/service/saml/idp/logout"
METADATA_PATH: Final = "/service/saml/idp/metadata"
METADATA_TYPE: Final = "application/samlmetadata+xml"
_MAX_QUERY: Final = 262_144
_MAX_FIELDS: Final = 20
MAX_SP_CERTIFICATES: Final = 8
"""Of one service provider: `SpCertificate` and the further ones."""
KEYS = (*FIELDS, "Provider", "UserName", "PhoneId")
"""The fields of the profile that `DataMap` may fill; ID identifies the account."""
Name = Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9_-]{0,59}$")]
Text = Annotated[str | None, Field(max_length=1_000)]
Url = Annotated[str | None, Field(max_length=2_000, pattern=r"^https://[^\s/]+")]
Pem = Annotated[str | None, Field(max_length=20_000)]
RequestBinding = Literal[
    "urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect", "urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST"
]
ResponseBinding = Literal[
    "urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST", "urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Artifact"
]
POST_BINDING: Final = "urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST"
NameIdFormat = Literal[
    "urn:oasis:names:tc:SAML:1.1:nameid-format:unspecified",
    "urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress",
    "urn:oasis:names:tc:SAML:2.0:nameid-format:persistent",
    "urn:oasis:names:tc:SAML:2.0:nameid-format:transient",
]  # fmt: skip


IntegrationType = Literal[
    "Custom", "Salesforce", "AwsIdentityCenter", "GoogleWorkspace", "Microsoft365", "Slack", "Zoom", "GitLab", "Grafana", "Zendesk", "Box",
    "Tableau", "Jira",
]  # fmt: skip


class AssertionConsumerService(Wire):
    """Where assertions are sent."""

    binding: ResponseBinding = "urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST"
    location: Url = None


class SamlAttribute(Wire):
    """An attribute of an assertion: a fixed text, or a profile field, with another field to use if it's empty."""

    value: Annotated[str, Field(max_length=500)]
    format: Annotated[str, Field(max_length=200)] = "urn:oasis:names:tc:SAML:2.0:attrname-format:unspecified"
    is_static: bool = False
    alternative_mapping_key: Annotated[str | None, Field(max_length=100)] = None


class KeyPair(Wire):
    """An X.509 certificate and its private key, in PEM. Responses mask the key. If both are absent, Gatehouse generates them."""

    certificate: Pem = None
    key: Annotated[str | None, SECRET, Field(max_length=20_000)] = None


class OtherKeyPair(Wire):
    """The X.509 certificate of the identity or service provider, in PEM, and its key if there is one. Responses mask
    the key."""

    certificate: Pem = None
    key: Annotated[str | None, SECRET, Field(max_length=20_000)] = None


class OtherCertificate(Wire):
    """The X.509 certificate of the service provider, in PEM."""

    certificate: Pem = None


class OwnCertificate(Wire):
    """The X.509 certificate that Gatehouse generated, in PEM."""

    certificate: Annotated[str | None, READ_ONLY] = None


class NextKeyPair(Wire):
    """An X.509 certificate and its private key, in PEM, to become the next ones. If both are absent, Gatehouse generates them."""

    certificate: Pem = None
    key: Annotated[str | None, Field(max_length=20_000)] = None


class IntegrationConfigs(Wire):
    """The settings of a ready-made SAML integration. The fingerprint is that of `IdpCertificate`."""

    account_name: Annotated[str | None, Field(pattern=r"^[a-z0-9][a-z0-9-]{0,62}$")] = None
    idp_sha1_fingerprint: Annotated[str | None, READ_ONLY, Field(alias="IdpSHA1Fingerprint")] = None


class SamlClient(Wire):
    """A service provider that uses the tenant as its identity provider. If `IdpCertificate` is absent, Gatehouse generates one.
    `Attributes` are those of an assertion, by name; `IssuerUrl` is the service provider's entity ID. With `SpCertificate`, the
    service provider must sign its requests."""

    app_name: Annotated[Name, Key("samlApp")]
    saml_version: Literal["2.0"] = "2.0"
    issuer_url: Text = None
    audiences: Annotated[list[Annotated[str, Field(min_length=1, max_length=1_000)]], Field(max_length=20)] = Field(
        default_factory=list
    )
    assertion_consumer_service: AssertionConsumerService = AssertionConsumerService()
    default_request_binding: RequestBinding = "urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect"
    artifact_receiver: Url = None
    reply_url: Url = None
    login_url: Url = None
    after_logout_url: Url = None
    sp_logout_url: Url = None
    relay_state_parameter: Annotated[str, Field(pattern=r"^[A-Za-z0-9_.-]{1,60}$")] = "RelayState"
    name_id_format: NameIdFormat = "urn:oasis:names:tc:SAML:1.1:nameid-format:unspecified"
    attributes: Annotated[
        dict[Annotated[str, Field(min_length=1, max_length=200)], SamlAttribute], Field(max_length=100)
    ] = Field(default_factory=dict)
    not_on_or_after: Annotated[int | None, Field(ge=0, le=253_402_300_799)] = None
    is_idp_initiated: bool = False
    is_active: bool = True
    sign_assertion: bool = True
    sign_response: bool = False
    encrypt_assertion: bool = False
    idp_certificate: KeyPair = KeyPair()
    next_certificate: OwnCertificate = OwnCertificate()
    former_certificate: OwnCertificate = OwnCertificate()
    sp_certificate: OtherCertificate = OtherCertificate()
    sp_certificates: Annotated[
        list[Annotated[str, Field(min_length=1, max_length=20_000)]], Field(max_length=MAX_SP_CERTIFICATES - 1)
    ] = Field(default_factory=list)
    is_prebuilt_integration: Annotated[bool, READ_ONLY] = False
    integration_type: IntegrationType = "Custom"
    integration_configs: IntegrationConfigs = IntegrationConfigs()
    created_date: Annotated[str | None, CREATED_AT] = None
    last_modified_date: Annotated[str | None, MODIFIED_AT] = None


class IdentityProvider(Wire):
    """The identity provider, where it receives requests, and how. `EntityId` is the issuer of its answers; without it, nobody signs in."""

    entity_id: Text = None
    binding: RequestBinding = "urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect"
    location: Url = None
    log_out: Url = None


class SamlProvider(Wire):
    """A SAML identity provider. For each profile field, `DataMap` names the attribute of an assertion; without `ID`, the NameID
    identifies the account, and without `Email` the common names of it are known. `SamlServiceProvider` is the tenant's entity ID, and
    `ServiceProviderACSUrl` receives assertions. `AppId` is the tenant's id, and `AppID` a number made from it."""

    id: Annotated[str, READ_ONLY] = ""
    provider: Annotated[Name, Key("samlApp")]
    friendly_provider_name: Annotated[str, Field(max_length=60)] = ""
    app_id: Annotated[str, READ_ONLY] = ""
    app_number: Annotated[int, READ_ONLY, Field(alias="AppID")] = 0
    is_active: bool = True
    is_deleted: Annotated[bool, READ_ONLY] = False
    is_idp_initiated: bool = False
    data_map: Annotated[dict[str, Annotated[str, Field(min_length=1, max_length=200)]], Field(max_length=100)] = Field(
        default_factory=dict
    )
    relay_state_parameter: Annotated[str, Field(pattern=r"^[A-Za-z0-9_.-]{1,60}$")] = "RelayState"
    default_logout_url: Url = None
    service_provider_acs_url: Annotated[str, READ_ONLY, Field(alias="ServiceProviderACSUrl")] = ""
    saml_service_provider: Annotated[str, READ_ONLY] = ""
    identity_provider: IdentityProvider = IdentityProvider()
    idp_certificate: OtherKeyPair = OtherKeyPair()
    sp_certificate: OwnCertificate = OwnCertificate()
    next_certificate: OwnCertificate = OwnCertificate()
    former_certificate: OwnCertificate = OwnCertificate()
    enable_auto_look_up: bool = False
    domain: ProviderDomain = None
    list_in_interface: bool = True
    created_date: Annotated[str | None, CREATED_AT] = None
    last_modified_date: Annotated[str | None, MODIFIED_AT] = None


class Integration(Wire):
    """A ready-made SAML integration, and the fields that it needs."""

    integration_type: str
    name: str
    is_prebuilt_integration: bool
    fields: list[str]


class IntegrationList(Wire):
    data: list[Integration]


class KeyList(Wire):
    data: list[str]


class SamlMetadataRequest(Wire):
    """Which SAML client the metadata is for: each has a certificate of its own."""

    app_name: Annotated[str, From.QUERY, Field(max_length=100, alias="appName")] = ""


class SamlMessage(Wire):
    """What a browser brought to the address of single sign-on or of single logout, nothing of it decoded."""

    query: Annotated[str, Field(max_length=_MAX_QUERY)] = ""
    """As it was received: a signature covers these characters."""
    fields: list[tuple[str, str]] | None = Field(default=None, max_length=_MAX_FIELDS)
    """Of a posted form; None for a GET."""


integrations = operation(
    "saml_clients.integrations", "GET /v2/manage/saml-clients/integrations", Wire, IntegrationList, auth=MACHINE_TOKEN,
    error_profile=MANAGE, scope="client:read",
    summary="List SAML integrations",
    description="Returns the ready-made integrations that a SAML client can start from.",
)  # fmt: skip
keys = operation(
    "saml_providers.keys", "GET /v2/manage/custom-providers/saml/keys", Wire, KeyList, auth=MACHINE_TOKEN,
    error_profile=MANAGE, scope="provider:read",
    summary="List profile fields for SAML providers",
    description="Returns the profile fields that the attributes of a SAML provider can fill.",
)  # fmt: skip
_VERBS = (LIST, CREATE, READ, UPDATE, DELETE)


def _certificate_actions(
    path: str, what: str, others: str, request: type[Wire] = Wire, more: str = ""
) -> tuple[ResourceAction, ...]:
    """Return the operations of the life of our key for a peer: published, activated, and removed when it is the former one."""
    return (
        ResourceAction(
            "renew", f"POST {path}/renew-certificate", f"Renew {what}’s certificate",
            description=f"Replaces the current certificate at once, by the next one or, without it, by a new one. {others} that don’t know "
            "it yet refuse what it signs: to avoid that, create the next certificate, and activate it when they know it.",
        ),
        ResourceAction(
            "create_next_certificate", f"POST {path}/next-certificate", f"Create {what}’s next certificate", request=request,
            description=f"Publishes a certificate beside the current one, so that {others.lower()} know it before it signs. Returns the "
            "present next certificate if there is one." + more,
        ),
        ResourceAction(
            "activate_certificate", f"POST {path}/activate-certificate", f"Activate {what}’s next certificate",
            description="Lets the next certificate sign. The former one stays published until you delete it or it expires.",
        ),
        ResourceAction(
            "delete_next_certificate", f"DELETE {path}/next-certificate", f"Delete {what}’s next certificate",
            description="Takes the next certificate back before it signs.",
        ),
        ResourceAction(
            "delete_former_certificate", f"DELETE {path}/former-certificate", f"Delete {what}’s former certificate",
            description="Stops publishing the former certificate. Its key is deleted.",
        ),
    )  # fmt: skip


CLIENTS = collection(
    "saml_clients", "/v2/manage/saml-clients", SamlClient, verbs=_VERBS, noun="SAML client",
    about="A SAML client is a service provider that signs people in with Gatehouse accounts. Give it the metadata at "
    "`/service/saml/idp/metadata?appName=` and the client’s name. Without `IdpCertificate`, a certificate is generated.",
    scope="client", unique=("app_name",),
    error_profile=SAML, exists=errors.SamlAppExists, unknown=errors.UnknownSamlApp, file_key="saml_clients",
    actions=_certificate_actions("/v2/manage/saml-clients/{samlApp}", "a SAML client", "Service providers", NextKeyPair,
        " Send an empty object to have it generated."),
)  # fmt: skip
PROVIDERS = collection(
    "saml_providers", "/v2/manage/custom-providers/saml", SamlProvider, verbs=_VERBS, noun="SAML provider",
    about="A SAML provider is an identity provider of your own. At the provider, register `SamlServiceProvider` as audience and "
    "`ServiceProviderACSUrl` as reply URL; with `IsIdpInitiated`, a provider has a reply URL of its own.", scope="provider",
    error_profile=SAML, unique=("provider",), exists=errors.SamlAppExists, unknown=errors.UnknownSamlApp,
    errors=(errors.ProviderDomainExists,),
    partial=True, file_key="saml_providers",
    actions=_certificate_actions("/v2/manage/custom-providers/saml/{samlApp}", "a SAML provider", "Identity providers"),
)  # fmt: skip

metadata = operation(
    "saml_sign_on.metadata", f"GET {METADATA_PATH}", SamlMetadataRequest, Document, error_profile=SIGN_ON, on=Host.TENANT,
    errors=(errors.SamlConfigurationInvalid, errors.EndpointForbidden), answers=(METADATA_TYPE,),
    summary="Get the metadata of the identity provider",
    description="Returns the SAML metadata with which a service provider is set up: the entity ID, the addresses of single sign-on and "
    "of single logout, and the certificate that signs for the SAML client that `appName` names.",
)  # fmt: skip
login = hub_operation(
    "hub.saml_login", "POST /hub/saml/login", SamlMessage, StepResponse,
    summary="Start a sign-in for a service provider, by its request or here: FORM_POST with the response, a page, or REFUSED.",
)  # fmt: skip
logout = hub_operation(
    "hub.saml_logout", "POST /hub/saml/logout", SamlMessage, StepResponse,
    summary="End the session that a service provider names, or go on to the next service provider of a sign-out.",
)  # fmt: skip
