"""The configuration file of tenants, as `gatehouse apply` reads it and `gatehouse export` writes it.

Only the keys that are present are applied. A key that is absent within `settings`, `brand`, an application or a template gets
its default, unless an operation set it (decision 0162).
"""

from functools import cache
from typing import Annotated, Any, cast

from pydantic import AfterValidator, Field, create_model, model_validator

from app.contract.accounts.file import AccountFile
from app.contract.applications.file import ApplicationFile
from app.contract.configuration_model import ConfigurationModel, plain
from app.contract.federation.connection_completion import complete, valid_instances
from app.contract.federation.connections import NAMES, ConnectionFile, ConnectionName
from app.contract.messages.models import MailTemplate, TextMessageTemplate
from app.contract.oauth.registration_settings import MAX_TOKENS, InitialAccessTokenFile
from app.contract.organizations.file import OrganizationFile, TenantRoleFile
from app.contract.published.configuration_texts import describe
from app.contract.registration.form import FormField, contradiction
from app.contract.resources import file_resources
from app.contract.roles.role_operations import MAX_NAME, MAX_PERMISSIONS, MAX_ROLES
from app.contract.second_factors.service_settings import DuoFile, PushFile
from app.contract.tenants.branding import Brand
from app.contract.tenants.settings import TenantSettings
from app.kit.resources.folding import folded_sentence
from app.kit.resources.resource import Resource
from app.kit.resources.resource_models import file_model
from app.kit.web.urls import parse_url

RESERVED_TENANTS = frozenset({"api", "inbox", "shop", "www"})
BESIDE_SETTINGS = ("url_whitelist", "registration_form", "push", "duo", "connections")
"""Settings with a key of their own beside `settings`: long lists, and services with their secrets."""
LATER_OF_ACCOUNTS = frozenset({"organizations"})
LABEL = r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?"
"""The pattern of a tenant's name, which is a label of its host."""


_GUID = r"^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$"


def _free_tenant(name: str) -> str:
    if name in RESERVED_TENANTS:
        raise ValueError("another name; this one is reserved")
    return name


def allowed_url(entry: str) -> str:
    """Check an entry of the whitelist: scheme, host (a leading `*.` allows subdomains), port and path prefix."""
    parts = parse_url(plain(entry).replace("://*.", "://", 1))
    if parts is None or parts.query or parts.fragment:
        raise ValueError("an address such as https://app.example.com or https://*.example.com/path")
    return entry


AllowedUrl = Annotated[str, AfterValidator(allowed_url), Field(max_length=2_000)]


class RoleFile(ConfigurationModel):
    """A role that accounts have, with all of its permissions."""

    name: Annotated[str, Field(min_length=1, max_length=MAX_NAME)]
    permissions: tuple[Annotated[str, Field(min_length=1, max_length=MAX_NAME)], ...] = Field(
        default=(), max_length=MAX_PERMISSIONS
    )


class TenantFile(ConfigurationModel):
    """One tenant. `theme` names a folder with theme.yaml, whose keys are those of `brand`, and with the logo."""

    name: Annotated[
        str,
        Field(pattern=rf"^{LABEL}$", description="The tenant's name, which is the first label of its host name."),
        AfterValidator(_free_tenant),
    ]
    api_key: Annotated[str, Field(pattern=_GUID)] | None = Field(
        default=None, description="A GUID. If absent, Gatehouse generates one and prints it once."
    )
    api_secret: Annotated[str, Field(pattern=_GUID)] | None = Field(
        default=None, description="A GUID. If absent, Gatehouse generates one and prints it once."
    )
    captcha_secret: Annotated[str, Field(min_length=1, max_length=500)] | None = Field(
        default=None,
        description="The secret that the provider of `settings.captcha` issued with the site key, stored encrypted. Another value "
        "replaces it.",
    )
    settings: TenantSettings | None = None
    url_whitelist: tuple[AllowedUrl, ...] | None = None
    registration_form: tuple[FormField, ...] | None = Field(
        default=None,
        max_length=60,
        description="The fields of the registration form, in this order. An empty list: those that sign-in needs.",
    )
    push: PushFile | None = Field(
        default=None,
        description="The cloud service for push notifications. Another secret replaces the current one.",
    )
    duo: DuoFile | None = Field(
        default=None, description="Your application at Duo. Another secret replaces the current one."
    )
    connections: (
        Annotated[dict[ConnectionName, ConnectionFile], AfterValidator(complete), AfterValidator(valid_instances)]
        | None
    ) = Field(
        default=None,
        max_length=30,
        description="Identity providers for sign-ins, by their names in addresses and profiles. "
        "A name belongs to its provider permanently: give another provider another one. "
        f"These names have presets: {', '.join(NAMES)}. Another secret replaces the current one.",
    )
    theme: str | None = Field(default=None, description="A folder next to the file.")
    brand: Brand | None = Field(default=None, description="The look, instead of `theme`.")
    applications: tuple[ApplicationFile, ...] | None = None
    initial_access_tokens: tuple[InitialAccessTokenFile, ...] | None = Field(
        default=None,
        max_length=MAX_TOKENS,
        description="Tokens that let applications register themselves, if `settings.client_registration.mode` is "
        "`initial_access_token` or `open`. Tokens that aren't in the file stay, unless `--prune` deletes them.",
    )
    mail_templates: tuple[MailTemplate, ...] | None = Field(
        default=None,
        max_length=200,
        description="Emails in your own words, in place of the built-in ones (docs/mail-templates.md).",
    )
    sms_templates: tuple[TextMessageTemplate, ...] | None = Field(
        default=None, max_length=100, description="Text messages in your own words, in place of the built-in ones."
    )
    roles: tuple[RoleFile, ...] | None = Field(
        default=None, max_length=MAX_ROLES, description="The roles that accounts can have."
    )
    accounts: tuple[AccountFile, ...] | None = None
    organization_roles: tuple[TenantRoleFile, ...] | None = Field(
        default=None, max_length=1_000, description="Roles for the members of all organizations."
    )
    organizations: tuple[OrganizationFile, ...] | None = Field(
        default=None,
        max_length=10_000,
        description="The companies among your customers. Nothing is removed, not even by `--prune`.",
    )

    @model_validator(mode="after")
    def _agrees(self) -> "TenantFile":
        if self.theme is not None and self.brand is not None:
            raise ValueError("theme: theme or brand, not both")
        for key in BESIDE_SETTINGS:
            if self.settings is not None and key in self.settings.model_fields_set:
                raise ValueError(f"settings.{key}: {key} next to settings, not inside")
        known = self.settings.custom_fields if self.settings is not None else None
        if self.registration_form and (expected := contradiction(self.registration_form, known)):
            raise ValueError(f"registration_form: {expected}")
        settings = self.settings or TenantSettings()
        if settings.lockout.type == "security_question" and not settings.security_questions:
            raise ValueError(
                "settings.lockout.type: another type, because settings.security_questions has no questions"
            )
        questions = [folded_sentence(question) for question in settings.security_questions.values()]
        if len(set(questions)) < len(questions):
            raise ValueError(
                "settings.security_questions: each question once; two differ only in blanks or final marks"
            )
        return self


class ConfigurationFile(ConfigurationModel):
    """The whole file."""

    tenants: tuple[TenantFile, ...]


@cache
def configuration_file(resources: tuple[Resource, ...]) -> type[ConfigurationFile]:
    """Return the model of the file with a key for each resource: a list of its items."""
    fields: dict[str, Any] = {}
    for resource in resources:
        if resource.file_key not in TenantFile.model_fields:
            item: Any = file_model(resource)
            note = Field(default=None, max_length=resource.max_items, description=resource.file_note)
            fields[resource.file_key] = (tuple[item, ...] | None, note)
    if not fields:
        return ConfigurationFile
    tenant: Any = create_model("TenantFile", __base__=TenantFile, __doc__=TenantFile.__doc__, **fields)
    model: Any = create_model("ConfigurationFile", __base__=ConfigurationFile, tenants=(tuple[tenant, ...], ...))
    return cast("type[ConfigurationFile]", model)


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema of the file."""
    model = configuration_file(file_resources())
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **describe(model.model_json_schema())}
