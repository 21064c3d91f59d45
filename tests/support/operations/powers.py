"""The table of powers: what an item can be, and the scopes that a program needs to write it (decision 0315)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import insert
from werkzeug.test import TestResponse

from app.contract.applications.file import JWT_BEARER, TOKEN_EXCHANGE
from app.contract.resources import BOUND
from app.identity.directory.accounts.identifiers import IDENTITY, identity_value
from app.identity.directory.accounts.tables import identifiers
from app.identity.directory.tenants import tenant_writes
from app.identity.platform.store.unit_of_work import UnitOfWork
from app.kit import randomness
from app.kit.resources.operations import BoundOperation
from app.kit.resources.resource import CREATE, DELETE, LIST, READ, Resource
from tests.support.oauth.managed_clients import CLIENTS, SHOP, give, worker
from tests.support.operations.resource_samples import SAMPLES
from tests.support.operations.resources import named
from tests.support.tenants.machines import ask, audience, machine
from tests.support.tenants.tenant_server import TenantServer
from tests.support.workflows.drawings import branching, node, sequence

Body = dict[str, Any]
Make = Callable[[TenantServer], Body]
ALL = ("all",)


@dataclass(frozen=True)
class Powerful:
    """An item with a power.

    Args:
        item: the body that creates or sets it; without the power where `prepare` gives that.
        touch: an update that leaves the power.
        plain: the body of the same item without the power, and the updates that give it and take it.
        prepare: gives the power otherwise: by a configuration file, by another item, by a sign-in.
    """

    kind: str
    power: str
    needs: tuple[str, ...]
    item: Make
    touch: Body = field(default_factory=dict)
    plain: tuple[Make, Make, Body] | None = None
    prepare: Callable[[TenantServer, Body], None] | None = None

    def __str__(self) -> str:
        return f"{self.kind}: {self.power}"

    @property
    def resource(self) -> Resource:
        return named(self.kind)


def same(body: Body) -> Make:
    return lambda tenant: body


def _client(power: str, needs: tuple[str, ...], members: Make, neutral: Body) -> Powerful:
    """Return a client that has the power by members that operations can set; `neutral` sets them without it."""
    return Powerful(
        "oauth_clients", power, needs, lambda tenant: {**SHOP, **members(tenant)}, {"DisplayName": "Shop"},
        plain=(same({**SHOP, **neutral}), members, neutral),
    )  # fmt: skip


def _configured_client(power: str, **settings: Any) -> Powerful:
    """Return a client that has the power by its configuration file."""
    return Powerful(
        "oauth_clients", power, ALL, same(SHOP), {"DisplayName": "Shop"},
        prepare=lambda tenant, made: give(tenant, made["AppName"], **settings),
    )  # fmt: skip


def _at(change: Callable[[str], str], *scopes: str) -> Make:
    """Return members with scopes at a spelling of the audience of the management operations."""
    return lambda tenant: {**worker(tenant, *scopes, at=change(audience(tenant))), "AppName": "Shop"}


def _name(tenant: TenantServer, made: Body) -> None:
    """Let another client name this one in `may_act`."""
    body = {**SHOP, "AppName": "Other", "MayAct": [made["ClientId"]]}
    ask(tenant, machine(tenant, "all"), "POST", CLIENTS, body)


def _link(provider: str) -> Callable[[TenantServer, Body], None]:
    """Return what links an account to the provider."""

    def link(tenant: TenantServer, made: Body) -> None:
        values = {
            "tenant_id": tenant.tenant_id, "kind": IDENTITY, "value": identity_value(provider, randomness.token(8)),
            "uid": randomness.uid(), "is_verified": True,
        }  # fmt: skip
        with UnitOfWork(tenant.services.database, tenant.tenant_id).separate_transaction() as work:
            work.run(insert(identifiers).values(**values))

    return link


def _trust(tenant: TenantServer, made: Body) -> None:
    """Let a configuration file trust the addresses of a provider."""
    name = made["ProviderName"]
    work = UnitOfWork(tenant.services.database, tenant.tenant_id)
    stored = tenant_writes.own(work)
    work.rollback()
    assert stored is not None
    connections = stored.settings["connections"]
    tenant.change_settings(connections={**connections, name: {**connections[name], "trusts_email": True}})


_NO_MACHINE: Body = {
    "ApplicationType": "Web",
    "GrantTypes": ["authorization_code", "refresh_token"],
    "AudienceScopes": {},
}
_ISSUER: Body = {"Issuer": "https://hr.example", "JwksUri": "https://hr.example/jwks"}
_BOTH: Body = {
    "Issuer": {"ExpectedValue": "https://partner.example", "MatchValue": True, "IsMandatory": True},
    "Audience": {"ExpectedValues": ["acme"], "MatchValue": True, "IsMandatory": True},
}
_JWT: Body = {"AppName": "Partner", "Algo": "HS256", "Key": "k" * 32}
_GOOD_JWT: Body = {**_JWT, **_BOTH}
_JWT_CLIENT: Body = {
    "AppName": "Wiki",
    "Algo": "HS256",
    "Secret": "k" * 32,
    "Mapping": {
        "sub": "Email",
        "nickname": "FirstName",
        "roles": "Roles",
        "username": "UserName",
        "updated_at": "ModifiedDate",
    },
}
_OAUTH = SAMPLES["oauth_providers"].item(1)
_SAML = SAMPLES["saml_providers"].item(1)
_RESET: Body = {"TemplateType": "forgotpassword", "TemplateName": "own", "Subject": "New password"}
_CODE: Body = {"SmsTemplateType": "verification", "Name": "own", "Template": "Your code: #OTP#"}


_HOOK: Body = {"TokenHook": {"Url": "https://hooks.acme.example", "OnFailure": "deny"}}
_NO_HOOK: Body = {"TokenHook": None}
_PLAIN_FLOW: Body = {"Name": "Flow", "Data": sequence()}


def _workflow(power: str, data: Body) -> Powerful:
    body = {"Name": "Flow", "Data": data}
    return Powerful("workflows", power, ALL, same(body), body, (same(_PLAIN_FLOW), same(body), _PLAIN_FLOW))


def _jwt(power: str, members: Body) -> Powerful:
    powerful = {**_GOOD_JWT, **members}
    return Powerful("jwt_providers", power, ALL, same(powerful), powerful, (same(_GOOD_JWT), same(powerful), _GOOD_JWT))


def _jwt_client(power: str, members: Body, needs: tuple[str, ...] = ALL) -> Powerful:
    powerful = {**_JWT_CLIENT, **members}
    return Powerful(
        "jwt_clients", power, needs, same(powerful), powerful, (same(_JWT_CLIENT), same(powerful), _JWT_CLIENT)
    )


POWERFUL: tuple[Powerful, ...] = (
    _client("a management scope", ("template:read",), _at(str, "template:read"), _NO_MACHINE),
    _client("all", ALL, _at(str, "all"), _NO_MACHINE),
    _client(
        "a management scope at the other audience", ("template:read",),
        _at(lambda item: item.replace("/identity/v2", "/v2"), "template:read"), _NO_MACHINE,
    ),
    _client("the audience in capitals", ALL, _at(str.upper, "client:update"), _NO_MACHINE),
    _client("the audience with a slash", ALL, _at(lambda item: f"{item}/", "client:update"), _NO_MACHINE),
    _client(
        "the audience at another host", ALL, _at(lambda item: item.replace("://", "://x."), "client:update"), _NO_MACHINE
    ),
    _client("another audience", ALL, _at(lambda item: "https://api.acme.example", "read"), _NO_MACHINE),
    _client(
        "a management scope in scope", ("template:read",), same({"AllowedScopes": ["openid", "template:read"]}),
        {"AllowedScopes": ["openid"]},
    ),
    _client(
        "token:read in scope", ("token:read",), same({"AllowedScopes": ["openid", "token:read"]}), {"AllowedScopes": ["openid"]},
    ),
    _client(
        "a management scope in optional_scopes", ALL, same({"AllowedScopes": ["openid", "all"], "OptionalScopes": ["all"]}),
        {"AllowedScopes": ["openid"], "OptionalScopes": []},
    ),
    _client("id_token_audiences", ALL, same({"IdTokenAudiences": ["another-client"]}), {"IdTokenAudiences": []}),
    _client("may_act", ALL, same({"MayAct": ["someone"]}), {"MayAct": []}),
    _client("exchange_audiences", ALL, same({"GrantTypes": [TOKEN_EXCHANGE], "ExchangeAudiences": ["https://api.example"]}),
            {"GrantTypes": ["authorization_code"], "ExchangeAudiences": []}),
    *(
        _client(
            f"an assertion issuer for {item}", ALL,
            same({"GrantTypes": ["authorization_code", JWT_BEARER], "AssertionIssuers": [{**_ISSUER, "Subject": item, **more}]}),
            {"GrantTypes": ["authorization_code"], "AssertionIssuers": []},
        )
        for item, more in (("uid", {}), ("email", {}), ("identity", {"Connection": "google"}))
    ),
    _configured_client("interface_access read", interface_access="read"),
    _configured_client("interface_access full", interface_access="full"),
    _configured_client("resource_server", resource_server=True),
    _configured_client("resources", resources=["https://api.acme.example"]),
    Powerful("oauth_clients", "named in may_act", ALL, same(SHOP), {"DisplayName": "Shop"}, prepare=_name),
    Powerful("initial_access_tokens", "new clients", ("client:create",), same(SAMPLES["initial_access_tokens"].item(1))),
    Powerful("sotts", "new accounts", ("sott:create",), same(SAMPLES["sotts"].item(1))),
    Powerful("custom_domains", "pages and cookies", ALL, same({"DomainName": "login.acme.example"})),
    Powerful(
        "mail_templates", "a link", ALL, same({**_RESET, "Template": "<a href='#Url#'>Go on</a>"}),
        {**_RESET, "Subject": "Your password", "Template": "<a href='#Url#'>Go on</a>"},
    ),
    Powerful("sms_templates", "a code", ALL, same(_CODE), {**_CODE, "Template": "#OTP# is your code"}),
    Powerful(
        "whitelisted_urls", "return addresses", ALL, same({"Domains": ["https://app.example"]}), {"Domains": ["https://evil.example"]},
        (same({"Domains": []}), same({"Domains": ["https://app.example"]}), {"Domains": []}),
    ),
    Powerful(
        "passkeys", "related origins", ALL, same({"IsEnabled": True, "RPOrigins": ["https://app.example"]}),
        {"IsEnabled": False, "RPOrigins": ["https://app.example"]},
        (same({"IsEnabled": True}), same({"IsEnabled": True, "RPOrigins": ["https://app.example"]}), {"IsEnabled": True}),
    ),
    Powerful("social_providers", "trusts_email", ALL, same({"IsActive": True, "Key": "client"}), {"Key": "another"}),
    Powerful(
        "oauth_providers", "trusts_email", ALL, same(_OAUTH), {**_OAUTH, "Scope": "all"}, prepare=_trust,
    ),
    Powerful(
        "oauth_providers", "linked accounts", ALL, same(_OAUTH), {**_OAUTH, "Scope": "all"}, prepare=_link("partner1"),
    ),
    _jwt("a domain", {"Domain": "acme.example"}),
    _jwt("no iss", {"Issuer": {}}),
    _jwt("no aud", {"Audience": {}}),
    _jwt("neither iss nor aud", {"Issuer": {}, "Audience": {}}),
    _jwt("an aud that may be absent", {"Audience": {**_BOTH["Audience"], "IsMandatory": False}}),
    _jwt_client("a sub that people edit", {"Mapping": {"sub": "FirstName"}}),
    _jwt_client("an email that people edit", {"Mapping": {"sub": "Uid", "email": "UserName"}}),
    _jwt_client("roles that people edit", {"Mapping": {"roles": "Company"}}),
    _jwt_client("groups of everyone", {"Metadata": {"groups": "admins"}}),
    _jwt_client("a second factor that nobody used", {"Metadata": {"amr": "mfa"}}),
    _jwt_client("scopes", {"Mapping": {"scope": "Roles"}}),
    _jwt_client("tokens of a provider", {"Mapping": {"tokens": "ProviderAccessCredential"}}, ("token:read",)),
    _jwt_client("identities with tokens", {"Mapping": {"linked": "Identities"}}, ("token:read",)),
    _jwt_client("a number that is always verified", {"Metadata": {"phone_number_verified": "true"}}),
    _workflow("an HttpCall", sequence(node("call", "HttpCall", url="https://hooks.acme.example", on_failure="deny"))),
    _workflow("a Deny", branching()),
    _workflow("claims", {**sequence(), "nodes": [*sequence()["nodes"][:-1], node("end", "SuccessFinalNode", claims={"a": 1})]}),
    _client("a token hook", ALL, same(_HOOK), _NO_HOOK),
    Powerful(
        "token_hook", "a server that tokens ask", ALL, same(_HOOK), _HOOK, (same(_NO_HOOK), same(_HOOK), _NO_HOOK)
    ),
    Powerful("jwt_providers", "linked accounts", ALL, same(_GOOD_JWT), _GOOD_JWT, prepare=_link("jwt:partner")),
    Powerful("ldap_providers", "passwords", ALL, same(SAMPLES["ldap_providers"].item(1)), SAMPLES["ldap_providers"].change(1)),
    Powerful(
        "webhooks", "profiles", ("profile:read",), same(SAMPLES["webhooks"].item(1)), SAMPLES["webhooks"].change(1),
    ),
    Powerful(
        "saml_providers", "a domain", ALL, same({**_SAML, "Domain": "acme.example"}), {"Domain": "acme.example"},
        (same(_SAML), same({"Domain": "acme.example"}), {"Domain": None}),
    ),
)  # fmt: skip
"""Every resource that carries a power, with each of its powers."""

WITHOUT: dict[str, str] = {
    "saml_clients": "an application that gets a person's claims, as any OAuth client without powers",
    "shopify_stores": "as SAML clients: its secret opens the store, not this service",
    "bigcommerce_stores": "as Shopify stores",
    "perfectmind_sites": "as Shopify stores",
    "consent_forms": "texts that people agree to",
    "custom_fields": "names of fields",
    "custom_object_types": "names and bounds of records; the records are read and written with the same scope",
    "form_custom_fields": "fields of the form",
    "registration_schema": "fields of the form",
    "default_workflow": "which workflow people follow; what a workflow may do is a power of the workflow",
    "themes": "colours, pictures, and markup that cannot run; scripts are refused",
    "captcha": "a hurdle for robots, no credential",
    "locks": "when failed sign-ins lock; loosening it is what the scope is for",
    "email_domains": "who may sign up",
    "ip_access": "who may call",
    "password_policy": "what new passwords must satisfy",
    "session_lifetimes": "how long sessions last",
    "security_questions": "the questions; the answers are the accounts'",
    "totp": "what authenticator apps show; each account has a secret of its own",
    "push": "how a prompt reaches a device; the device answers it with its own key",
    "duo": "a second factor alone, which the scope may switch off for everyone anyway",
    "two_factor": "which second factors there are; the first stays",
}
"""Every other resource, with the reason."""


def writes(resource: Resource) -> list[BoundOperation]:
    """Return the operations that write a resource."""
    return [
        item
        for item in BOUND
        if item.draft.resource is resource
        and (item.draft.verb_options is None or item.draft.verb_options.verb not in (LIST, READ))
    ]


def write(tenant: TenantServer, token: str, bound: BoundOperation, body: Body | None, of: Body) -> TestResponse:
    """Ask an operation on the item that an answer shows."""
    operation, sample = bound.operation, SAMPLES[bound.resource.kind]
    path, ids = operation.path, {name: of.get(member) for name, member in sample.key.items()}
    for name, value in ids.items():
        path = path.replace(f"{{{name}}}", str(value))
    options = bound.draft.verb_options
    if options is not None and options.verb is DELETE:
        body = {name: value for name, value in ids.items() if f"{{{name}}}" not in operation.path} or None
    return ask(tenant, token, operation.method, path, body)


def body_of(case: Powerful, bound: BoundOperation, tenant: TenantServer) -> Body | None:
    """Return what an operation gets that leaves the item its power."""
    if bound.draft.verb_options is None:
        return None
    return case.item(tenant) if bound.draft.verb_options.verb is CREATE else case.touch
