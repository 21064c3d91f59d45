"""Bodies for every resource of the catalogue and of the samples, and a program that asks its operations."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sqlalchemy import select
from werkzeug.test import TestResponse

from app.contract.operations import RESERVED_PATHS
from app.contract.resources import BOUND, RESOURCES, import_contract
from app.identity.administration.configuration import apply as configuration
from app.identity.administration.configuration.export import export
from app.identity.administration.configuration.plan import Plan
from app.identity.administration.configuration.reading import read
from app.identity.administration.resources import handlers
from app.identity.administration.resources.settings_store import store_of
from app.identity.entry import callers
from app.identity.entry.server import IdentityLifecycle
from app.identity.platform.audit import audit
from app.identity.platform.resources.items import StoreAccess
from app.identity.platform.services import Services
from app.identity.platform.store.unit import UnitOfWork
from app.kit.operation import AnyOperation, Host
from app.kit.reading import RawRequest
from app.kit.resource import Resource, Verb
from app.kit.resource_operations import BoundOperation
from app.kit.server import Server
from tests.support import sample_resources as samples
from tests.support.machines import ROBOT, ask, machine
from tests.support.tenant_server import NewTenantServer, TenantServer, answered

import_contract()
handlers.implement(samples.BOUND)
EVERY: list[Resource] = [*RESOURCES, *samples.SAMPLES]
Body = dict[str, Any]


@dataclass(frozen=True)
class Sample:
    """What to send to a resource.

    Args:
        item: the n-th item's body; all differ where they must.
        change: what an update states beside the id, of the n-th item.
        key: the members of an answer that are the id, by path parameter or body member.
        malformed: a body whose refusal names the member.
        settings: of the tenant.
        fixed: the id of an item that every tenant has.
        is_program: its items include the application of the asking program, which tests leave out.
    """

    item: Callable[[int], Body]
    change: Callable[[int], Body]
    key: dict[str, str]
    malformed: tuple[Body, str]
    path: dict[str, str] | None = None
    settings: Body | None = None
    is_program: bool = False
    fixed: dict[str, str] | None = None


def _hook(number: int) -> Body:
    basic = {"Username": "ada", "Password": "secret-of-the-hook"}
    return {
        "Event": "Login", "TargetUrl": f"https://t{number}.example/", "DisplayName": "first", "Headers": {"x": "1"},
        "Authentication": {"AuthType": "Basic", "BasicAuth": basic},
    }  # fmt: skip


SAMPLES: dict[str, Sample] = {
    "security_questions": Sample(
        item=lambda number: {"question": f"What is pet {number} called?"},
        change=lambda number: {"question": f"What was pet {number} called?"},
        key={"questionId": "QuestionId"},
        malformed=({"question": " "}, "question"),
    ),
    "push": Sample(
        item=lambda number: {"Message": f"Is it you? {number}", "AWSsettings": {"SecretAccessKey": "secret-of-sns"}},
        change=lambda number: {"Message": f"Really? {number}"},
        key={},
        malformed=({"QRCodeWidth": 5}, "QRCodeWidth"),
    ),
    "duo": Sample(
        item=lambda number: {"ClientId": f"DI{number}", "ClientSecret": "secret-of-duo", "IsEnabled": False},
        change=lambda number: {"ClientId": f"DX{number}"},
        key={},
        malformed=({"ApiHost": "evil.example"}, "ApiHost"),
    ),
    "two_factor": Sample(
        item=lambda number: {"IsSecondFactorAuthenticatorEnabled": True, "MinimumSecurityQuestionsToAsk": number},
        change=lambda number: {"IsSecondFactorAuthenticatorEnabled": False},
        key={},
        malformed=(
            {"IsSecondFactorAuthenticatorEnabled": True, "MinimumSecurityQuestionsToAsk": 0},
            "MinimumSecurityQ",
        ),
    ),
    "jwt_clients": Sample(
        item=lambda number: {"AppName": f"app{number}", "Secret": "s" * 32},
        change=lambda number: {"LoginUrl": f"https://app{number}.example/"},
        key={"jwtClientName": "AppName"},
        malformed=({"AppName": "1 a", "Secret": "s" * 32}, "AppName"),
    ),
    "jwt_providers": Sample(
        item=lambda number: {"AppName": f"app{number}", "Algo": "HS256", "Key": "k" * 32},
        change=lambda number: {"Algo": "HS256", "LoginUrl": f"https://app{number}.example/"},
        key={"jwtApp": "AppName"},
        malformed=({"AppName": "1 a", "Algo": "HS256", "Key": "k" * 32}, "AppName"),
    ),
    "captcha": Sample(
        item=lambda number: {
            "IsEnabled": True,
            "EnabledCaptcha": "HCaptcha",
            "HCaptcha": {"PublicKey": f"site {number}", "PrivateKey": f"secret {number}"},
        },
        change=lambda number: {"IsEnabled": False},
        key={},
        malformed=({"IsEnabled": True, "EnabledCaptcha": "HCaptcha", "HCaptcha": {"PublicKey": ""}}, "PublicKey"),
    ),
    "social_providers": Sample(
        item=lambda number: {"IsActive": True, "Key": f"client {number}", "Secret": f"secret {number}"},
        change=lambda number: {"Key": f"client {number}0"},
        key={"provider": "Provider"},
        malformed=({"IsActive": True, "Key": ""}, "Key"),
        fixed={"Provider": "GOOGLE"},
    ),
    "oauth_clients": Sample(
        item=lambda number: {"AppName": f"shop{number}", "RedirectURIs": [f"https://shop{number}.example/in"]},
        change=lambda number: {"DisplayName": f"Shop {number}"},
        key={"oAuthClientName": "AppName"},
        is_program=True,
        malformed=({"AppName": "1 a", "RedirectURIs": ["https://shop.example/in"]}, "AppName"),
    ),
    "sotts": Sample(
        item=lambda number: {"Technology": "android", "Comment": f"app {number}", "ExpiresInMinutes": number},
        change=lambda number: {},
        key={"authenticityToken": "AuthenticityToken"},
        malformed=({"Technology": "android", "ExpiresInMinutes": 0}, "ExpiresInMinutes"),
    ),
    "locks": Sample(
        item=lambda number: {"MaximumFailedLoginAttempts": number},
        change=lambda number: {"LoginLockedType": "Block"},
        key={},
        malformed=({"MaximumFailedLoginAttempts": 101}, "MaximumFailedLoginAttempts"),
    ),
    "email_domains": Sample(
        item=lambda number: {"Blocklist": [f"b{number}.example"]},
        change=lambda number: {"Allowlist": [f"a{number}.example"]},
        key={},
        malformed=({"Blocklist": "b.example"}, "Blocklist"),
        settings={"email_access": {"block": ["first.example"]}},
    ),
    "ip_access": Sample(
        item=lambda number: {"DeniedIPs": [f"203.0.113.{number}/32"]},
        change=lambda number: {"DeniedIPs": [f"198.51.100.{number}/32"]},
        key={},
        settings={"denied_ips": ["192.0.2.0/24"]},
        malformed=({"AllowedIPs": ["everybody"]}, "AllowedIPs"),
    ),
    "whitelisted_urls": Sample(
        item=lambda number: {"Domains": [f"https://app{number}.example"]},
        change=lambda number: {"Domains": []},
        key={},
        malformed=({"Domains": ["javascript:x"]}, "Domains"),
    ),
    "passkeys": Sample(
        item=lambda number: {"IsEnabled": True, "ProgressiveEnrollmentDelay": number},
        change=lambda number: {"IsEnabled": True, "RPDisplayName": f"Acme {number}"},
        key={},
        malformed=({"IsEnabled": True, "ProgressiveEnrollmentDelay": 0}, "ProgressiveEnrollmentDelay"),
        settings={"passkeys": True},
    ),
    "password_policy": Sample(
        item=lambda number: {"MaxPasswordHistory": number},
        change=lambda number: {"ExpirationFrequency": number},
        key={},
        malformed=({"MaxPasswordHistory": 99}, "MaxPasswordHistory"),
    ),
    "session_lifetimes": Sample(
        item=lambda number: {"SessionLimit": number},
        change=lambda number: {"AccessTokenTTL": 60 * number},
        key={},
        malformed=({"SessionLimit": 101}, "SessionLimit"),
    ),
    "totp": Sample(
        item=lambda number: {"IssuerId": f"Acme {number}"},
        change=lambda number: {"IssuerId": f"Globex {number}"},
        key={},
        malformed=({"QRCodeWidth": 5}, "QRCodeWidth"),
    ),
    "mail_templates": Sample(
        item=lambda number: {
            "TemplateType": "welcome",
            "TemplateName": f"n{number}",
            "Subject": "Hello",
            "Template": "<p>Hello</p>",
        },
        change=lambda number: {"TemplateName": f"n{number}", "Subject": "Good day", "Template": "<p>Hello</p>"},
        key={"templateType": "TemplateType", "TemplateName": "TemplateName"},
        malformed=({"TemplateType": "welcome", "Subject": "x", "Template": "#Nothing#"}, "Template"),
    ),
    "sms_templates": Sample(
        item=lambda number: {"SmsTemplateType": "welcome", "Name": f"n{number}", "Template": "Hello"},
        change=lambda number: {"Name": f"n{number}", "Template": "Good day"},
        key={"templateType": "SmsTemplateType", "Name": "Name"},
        malformed=({"SmsTemplateType": "welcome", "Name": "x", "Template": "#Nothing#"}, "Template"),
    ),
    "sample_hooks": Sample(
        item=_hook,
        change=lambda number: {"DisplayName": f"other {number}", "Headers": {}},
        key={"hookId": "HookId"},
        malformed=({**_hook(1), "DisplayName": "x" * 61}, "DisplayName"),
    ),
    "sample_clients": Sample(
        item=lambda number: {"AppName": f"app{number}", "ClientId": "one", "Grants": ["code"]},
        change=lambda number: {"IsActive": False},
        key={"appName": "AppName"},
        malformed=({"AppName": "1 a"}, "AppName"),
    ),
    "sample_group_roles": Sample(
        item=lambda number: {"GroupId": f"g{number}", "Name": "Editors"},
        change=lambda number: {"GroupId": f"g{number}", "Name": "Writers"},
        key={"groupRoleId": "Id"},
        malformed=({"GroupId": "x"}, "Name"),
        path={"orgId": "acme"},
    ),
    "sample_form": Sample(
        item=lambda number: {"Name": f"f{number}", "Type": "string"},
        change=lambda number: {},
        key={},
        malformed=({"Data": [{"Type": "string"}]}, "Name"),
    ),
    "sample_texts": Sample(
        item=lambda number: {"Type": "welcome", "Name": f"n{number}", "Template": "Hello"},
        change=lambda number: {"Name": f"n{number}", "Template": "Good day"},
        key={"textType": "Type", "Name": "Name"},
        malformed=({"Type": "welcome", "Name": "x"}, "Template"),
    ),
    "domain_access": Sample(
        item=lambda number: {"Allowlist": [f"a{number}.example"], "Blocklist": []},
        change=lambda number: {"Allowlist": [f"b{number}.example"], "Blocklist": ["c.example"]},
        key={},
        malformed=({"Allowlist": 5}, "Allowlist"),
    ),
    "sample_objects": Sample(
        item=lambda number: {"Name": f"o{number}", "Id": f"id{number}", "MaxRecordsPerAccount": 5},
        change=lambda number: {"Id": f"id{number}", "MaxRecordsPerAccount": 7},
        key={"objectName": "Name"},
        malformed=({"Name": "o1", "MaxRecordsPerAccount": 0}, "MaxRecordsPerAccount"),
    ),
}


def _from_address(app: Any, address: str = "127.0.0.1") -> Any:
    """Return the application as a caller with an address reaches it: a resource of addresses refuses an unknown one."""
    return lambda environ, start_response: app({**environ, "REMOTE_ADDR": address}, start_response)


class Manager:
    """A program of a tenant that may do everything with one resource."""

    def __init__(self, tenant: TenantServer, resource: Resource, *scopes: str) -> None:
        self.resource, self.sample = resource, SAMPLES[resource.kind]
        verbs = ("read", "create", "update", "delete")
        self.token = machine(tenant, *(scopes or [f"{resource.scope}:{verb}" for verb in verbs]))
        is_sample = resource in samples.SAMPLES
        server: Any = sample_server(tenant.services) if is_sample else tenant.app
        self.tenant = replace(tenant, app=_from_address(server))

    def operation(self, verb: Verb) -> AnyOperation:
        held: Sequence[BoundOperation] = [*BOUND, *samples.BOUND]
        return next(
            one.operation
            for one in held
            if one.draft.resource is self.resource and one.draft.address is self.resource.address
            and one.draft.does and one.draft.does.verb is verb
        )  # fmt: skip

    def does(self, verb: Verb) -> bool:
        return verb in [one.verb for one in self.resource.address.does]

    def __call__(self, verb: Verb, body: Any = None, of: Body | None = None) -> TestResponse:
        """Ask an operation; `of` is an answer that shows the item."""
        operation, ids = (
            self.operation(verb),
            {name: (of or self.sample.fixed or {}).get(member) for name, member in self.sample.key.items()},
        )
        path = operation.path
        for name, value in {**ids, **(self.sample.path or {})}.items():
            path = path.replace(f"{{{name}}}", str(value))
        if verb is Verb.DELETE:
            body = {name: value for name, value in ids.items() if f"{{{name}}}" not in operation.path} or None
        return ask(self.tenant, self.token, operation.method, path, body)

    def create(self, number: int = 1) -> TestResponse:
        return self(Verb.CREATE, self.sample.item(number))

    def listed(self) -> list[Any]:
        """Return what the list shows; nothing where the resource refuses an empty one."""
        answer = self(Verb.LIST)
        found = list(answered(answer)["Data"]) if answer.status_code == 200 else []
        return [one for one in found if not (self.sample.is_program and one["ClientId"].startswith(ROBOT))]

    def events(self) -> list[str]:
        """Return what the audit trail says of it, without the resource's name."""
        with self.work() as work:
            of_tenant = audit.c.tenant_id == self.tenant.tenant_id
            rows = work.all(select(audit.c.event).where(of_tenant).order_by(audit.c.entry_id))
        begins = f"{self.resource.audit or self.resource.kind}."
        return [row.event.removeprefix(begins) for row in rows if row.event.startswith(begins)]

    def secrets(self) -> list[str]:
        """Return the secrets of all items, opened."""
        services = self.tenant.services
        with self.work() as work:
            access = StoreAccess(work, services.encryption, services.clock.now())
            items = store_of(self.resource).items(access, self.resource)
        return [secret for item in items for secret in item.secrets.values()]

    @contextmanager
    def work(self) -> Iterator[UnitOfWork]:
        """Give a unit of work that reads."""
        made = UnitOfWork(self.tenant.services.database, self.tenant.tenant_id)
        try:
            yield made
        finally:
            made.rollback()

    def plan(self, text: str, *, prune: bool = False) -> Plan:
        return configuration.plan(self.tenant.services, self._read(text), prune=prune)

    def apply(self, text: str, *, prune: bool = False) -> Plan:
        done = configuration.apply(self.tenant.services, self._read(text), prune=prune)
        self.tenant.services.directory.clear_cache()
        return done

    def export(self) -> str:
        return export(self.tenant.services, self.tenant.name, (self.resource,) if self.resource.file_key else ())

    def _read(self, text: str) -> Any:
        return read(text.encode(), "f.yaml", Path(), (self.resource,) if self.resource.file_key else ())


def manager(new: NewTenantServer, resource: Resource) -> Manager:
    """Return a program of a fresh tenant."""
    return Manager(new(**(SAMPLES[resource.kind].settings or {})), resource)


def named(kind: str) -> Resource:
    """Return a resource."""
    return next(one for one in EVERY if one.kind == kind)


_SERVERS: dict[int, Server] = {}


def sample_server(services: Services) -> Server:
    """Return a server of the samples' operations."""
    if id(services) not in _SERVERS:

        def host_of(raw: RawRequest) -> Host:
            return callers.host_of(services.settings, raw.host, is_inside=raw.is_inside)

        _SERVERS[id(services)] = Server(samples.CATALOGUE, IdentityLifecycle(services), host_of, RESERVED_PATHS)
    return _SERVERS[id(services)]


@contextmanager
def at_most(resource: Resource, number: int) -> Iterator[None]:
    """Let a resource have so many items."""
    before = resource.most
    object.__setattr__(resource, "most", number)
    yield
    object.__setattr__(resource, "most", before)
