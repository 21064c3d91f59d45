"""Operations by which the hub reads a tenant's configuration for pages, and polls which cached tenants changed."""

import re
from typing import Annotated, Any, Final

from pydantic import Field, StringConstraints

from app.contract.captcha.models import CaptchaWidget
from app.contract.catalogue import hub_operation
from app.contract.configuration_model import OwnPicture, Tag, WebUrl
from app.contract.consents.forms import ConsentForm
from app.contract.errors import BadField, ThemeChanged, UnknownThemeVersion
from app.contract.pins.settings import Pins
from app.contract.registration.form import FormField
from app.contract.tenants.branding import (
    MAX_DISPLAY_NAME,
    ButtonShape,
    ColorScheme,
    DarkGround,
    Drawing,
    FontNames,
    Hex,
    LightGround,
    Line,
    Radius,
    Scene,
    Wording,
)
from app.contract.tenants.settings import PasswordPolicy, PrivacyPolicy
from app.contract.themes.layout_templates import CONTRACT
from app.kit.operations.wire import From, Wire
from app.kit.text.tenant_texts import MAX_TEXT_LENGTH

MAX_HOSTS: Final = 2_000
"""Maximum number of tenants per poll: this many of the longest hosts and versions fit a request body."""

THEME_PREVIEWS: Final = "/theme-preview"
"""The path of preview addresses."""
THEME_EDITOR: Final = "/theme-editor"
"""The path of the theme editor; the token of an address is its parameter `key`."""
MAX_PREVIEW_TOKEN: Final = 400
PREVIEW_TOKEN: Final = re.compile(rf"[A-Za-z0-9_-]{{1,{MAX_PREVIEW_TOKEN}}}")
"""The tokens of both, and of no other address."""
MAX_THEME_FILE: Final = 100
"""Characters of the name of a file that failed."""
MAX_THEME_FAILURE: Final = 200
"""Characters of the reason why it failed."""

HeldHost = Annotated[str, StringConstraints(pattern=r"^[a-z0-9_.-]{1,254}(:[0-9]{1,5})?$")]
HeldVersion = Annotated[str, StringConstraints(max_length=100)]


class HeldTenants(Wire):
    """The version of each cached tenant by its host, in lower case and with its port."""

    versions: dict[HeldHost, HeldVersion] = Field(max_length=MAX_HOSTS)


class ChangedTenants(Wire):
    """The current version of each changed host; empty if the host has no tenant any more."""

    versions: dict[str, str]


changed_tenants = hub_operation(
    "hub.changed_tenants", "POST /hub/tenants/changed", HeldTenants, ChangedTenants,
    summary="Read which of the hub’s cached tenants changed.", spans_tenants=True,
)  # fmt: skip


class BrandView(Wire):
    """A tenant's branding; pages compute readable colours from it."""

    color: str = "#3b49d9"
    logo: str | None = None
    logo_dark: str | None = None
    favicon: str | None = None
    scene: Scene = "dusk"
    drawing: Drawing | None = None
    picture: str | None = None
    background: str | None = None
    background_dark: str | None = None
    color_scheme: ColorScheme = "auto"
    colors: dict[str, dict[str, str]] = Field(default_factory=dict)  # by mode and name
    font: str | None = None
    font_file: str | None = None
    sentence: dict[str, str] = Field(default_factory=dict)  # by locale; shown beside the form
    signature: Line | None = None
    radius_px: int = 10
    button_shape: ButtonShape = "rounded"
    links: dict[str, str] = Field(default_factory=dict)  # privacy, terms, help
    texts: dict[str, dict[str, Wording]] = Field(default_factory=dict)  # by locale and key
    css: str = ""
    templates: dict[str, str] = Field(default_factory=dict)  # by the names of the files
    contract: int = CONTRACT
    files: dict[str, str] = Field(default_factory=dict)  # digests of the theme's own files, by name
    scripts: dict[str, str] = Field(default_factory=dict)  # by the members of `Brand.scripts`


class ThemeView(Wire):
    """A theme that pages show over the tenant's branding."""

    key: str = ""  # `brand` in an address chooses it; empty: no address does
    brand: dict[str, Any] = Field(default_factory=dict)  # the members of `Brand` that it sets, by their names there


class ConnectionView(Wire):
    """A connection, as pages show it."""

    name: str
    title: str
    mark: str = ""  # the well-known provider at the connection's address, whose mark pages show: google, github ...


class TenantView(Wire):
    """The part of a tenant's configuration that pages need."""

    name: str
    display_name: Line
    version: str
    brand: BrandView = Field(default_factory=BrandView)
    locales: list[str] = Field(default_factory=lambda: ["en", "de", "ar"])
    default_locale: str = "en"
    # email, username, phone: the identifiers for sign-in
    identifiers: list[str] = Field(default_factory=lambda: ["email"])
    remember_me: bool = True
    identifier_first: bool = False  # the password is asked for on a second step
    finds_connections: bool = False  # the domain of an address may lead to a provider
    sign_in_page_hours: int = 8
    passwordless_methods: list[str] = Field(default_factory=list)  # mail, sms, device, phone: passwordless methods
    connections: list[ConnectionView] = Field(default_factory=list)  # in the tenant's order
    one_touch: bool = False  # registers new accounts
    passkeys: str = ""  # autofill, button or both; empty: passkeys are off
    related_origins: list[str] = Field(default_factory=list)  # other origins where the tenant's passkeys work
    registration: bool = True
    uses_https: bool = False
    session_management: bool = False  # the session iframe is served
    has_default_workflow: bool = False  # sign-ins without an application follow it
    themes: dict[str, ThemeView] = Field(default_factory=dict)  # by name
    host_theme: str = ""  # the name of the theme that this host chooses
    script_origins: list[str] = Field(default_factory=list)  # of this host: where the operator allows scripts from
    organization_domains: bool = False  # organizations verify domains by DNS
    security_questions: dict[str, str] = Field(default_factory=dict)  # by id; a locked sign-in may ask one
    every_question: dict[str, str] = Field(default_factory=dict)  # by id: questions that accounts may answer
    registration_form: list[FormField] = Field(default_factory=list)
    consent_forms: list[ConsentForm] = Field(default_factory=list)
    privacy_policy: PrivacyPolicy = PrivacyPolicy()
    registration_captcha: bool = False
    federated_password: bool = False  # people who sign up through a provider choose a password, too
    captcha: CaptchaWidget | None = None  # None: the built-in challenge
    deletion_days: int = 0  # how long a deletion can be undone
    organizations: bool = False  # whether the tenant has organizations
    creates_organizations: bool = False  # whether people create them
    skip_backup_codes: bool = False  # whether a sign-in continues without saved backup codes
    pin: Pins = Pins()
    password_policy: PasswordPolicy = PasswordPolicy()  # pages show its rules


class TenantRequest(Wire):
    version: Annotated[str | None, From.QUERY] = None  # the version that the hub has cached


class TenantResponse(Wire):
    """The view; None if the cached version is current."""

    tenant: TenantView | None = None


class ThemeFailure(Wire):
    """A file of a theme in whose place pages, or mails, have ours."""

    digest: Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]  # of the version of the theme
    template: Annotated[
        str, StringConstraints(min_length=1, max_length=MAX_THEME_FILE)
    ]  # its file: templates/layouts/split.html
    reason: Annotated[str, StringConstraints(max_length=MAX_THEME_FAILURE)]


class ThemeFailureRecorded(Wire):
    is_new: bool  # the first failure of this file in this version


theme_failed = hub_operation(
    "hub.theme_failed", "POST /hub/theme/failures", ThemeFailure, ThemeFailureRecorded,
    summary="Record that a file of the tenant’s theme failed on a page.",
)  # fmt: skip


tenant = hub_operation(
    "hub.tenant", "GET /hub/tenant", TenantRequest, TenantResponse, summary="Read what pages need of the tenant at this host.",
)  # fmt: skip


class ThemePreviewRequest(Wire):
    token: Annotated[str, From.QUERY, Field(max_length=MAX_PREVIEW_TOKEN)]


class ThemePreviewView(Wire):
    """A version of a theme, for its preview."""

    version: int
    display_name: Line
    brand: BrandView
    sources: dict[str, str] = Field(default_factory=dict)
    """`theme` or `tenant` by value of the look, such as `links.privacy`; empty for the tenant's own look, which inherits nothing."""


theme_preview = hub_operation(
    "hub.theme_preview", "GET /hub/theme-preview", ThemePreviewRequest, ThemePreviewView, errors=(UnknownThemeVersion,),
    summary="Read the look that a preview address shows.",
)  # fmt: skip


class MessagePreviewsRequest(ThemePreviewRequest):
    language: Annotated[Tag, From.QUERY]


class MailPreview(Wire):
    """A sample of a mail, without its HTML."""

    kind: str  # the name of its template: reset
    state: str
    subject: str
    text: str
    problem: str = ""  # the file of the theme in whose place it has ours, and why


class TextPreview(Wire):
    """A sample of a text message."""

    kind: str
    state: str
    text: str
    encoding: str  # GSM-7, or UCS-2 for a text with other characters
    units: int  # of the encoding, which a part has 160 or 70 of
    parts: int


class MessagePreviews(Wire):
    """Every mail and text message in every state, in one language."""

    mails: list[MailPreview]
    texts: list[TextPreview]


theme_message_previews = hub_operation(
    "hub.theme_message_previews", "GET /hub/theme-preview/messages", MessagePreviewsRequest, MessagePreviews,
    errors=(UnknownThemeVersion,), summary="Read the messages that a preview address shows.",
)  # fmt: skip


class MailPreviewRequest(MessagePreviewsRequest):
    kind: Annotated[str, From.QUERY, Field(max_length=40)]
    state: Annotated[str, From.QUERY, Field(max_length=60)]


class MailDocument(Wire):
    html: str
    pictures: list[str]  # https addresses on other hosts that it may load: the theme's logos


theme_mail_preview = hub_operation(
    "hub.theme_mail_preview", "GET /hub/theme-preview/mail", MailPreviewRequest, MailDocument, errors=(UnknownThemeVersion,),
    summary="Read a mail that a preview address shows. A sample that there is not is an unknown version.",
)  # fmt: skip


class ThemeLook(Wire):
    """What people change in a theme without writing templates. What is null or empty is inherited."""

    display_name: Annotated[str, Field(max_length=MAX_DISPLAY_NAME)] = ""
    color: Hex | None = None
    logo: OwnPicture | None = None
    background: LightGround | None = None
    background_dark: DarkGround | None = None
    radius_px: Radius | None = None
    button_shape: ButtonShape | None = None
    font: FontNames | None = None
    scene: Scene | None = None
    drawing: Drawing | None = None
    sentence: dict[Tag, Annotated[str, Field(max_length=MAX_TEXT_LENGTH)]] = Field(default_factory=dict)
    signature: Annotated[str, Field(max_length=MAX_TEXT_LENGTH)] = ""
    links: dict[str, WebUrl] = Field(default_factory=dict)  # privacy, terms, help


class ThemeEditorView(Wire):
    """The newest version of a theme, for its editor."""

    version: int
    look: dict[str, Any]  # the members of `ThemeLook` that the version sets
    texts: dict[str, dict[str, Wording]]  # by locale and key
    shown_name: str  # inherited from the tenant if the version sets none
    shown_color: str
    logo_address: str  # of the logo that `look` names; empty without one
    has_picture: bool
    preview: str  # the path of the version's preview


class ThemeEdit(ThemeLook):
    token: Annotated[str, Field(max_length=MAX_PREVIEW_TOKEN)]
    base_version: Annotated[int, Field(ge=0, le=2_000_000_000)]
    texts: dict[Tag, dict[str, Wording | None]] = Field(default_factory=dict)  # those that change; null: ours again


class ThemeEdited(Wire):
    version: int


theme_editor = hub_operation(
    "hub.theme_editor", "GET /hub/theme-editor", ThemePreviewRequest, ThemeEditorView, errors=(UnknownThemeVersion,),
    summary="Read the theme that an editor’s address opens.",
)  # fmt: skip
edit_theme = hub_operation(
    "hub.edit_theme", "POST /hub/theme-editor", ThemeEdit, ThemeEdited, errors=(UnknownThemeVersion, ThemeChanged, BadField),
    summary="Save a draft of the theme that an editor’s address opens.", max_body_bytes=256 * 1024,
)  # fmt: skip
