"""Management programs keep themes and activate one. The docstrings are published."""

from typing import Annotated

from pydantic import Field

from app.contract.configuration_model import ConfigurationModel, OwnPicture, Tag
from app.contract.errors import BadField, ThemeChanged, UnknownTheme
from app.contract.resources import collection
from app.contract.tenants.branding import Brand, ButtonShape, Contract, Drawing, FileUrl, Hex, Scene, Wording
from app.contract.tenants.template_names import TemplateName
from app.contract.tenants.theme_members import Locales, ThemeBody, ThemeContent, ThemePages, Variables
from app.kit.operations.wire import Wire
from app.kit.resources.resource import (
    COMPUTED,
    CREATE,
    CREATED_AT,
    DELETE,
    LIST,
    MODIFIED_AT,
    READ,
    READ_ONLY,
    UPDATE,
    VERSION,
    Distinct,
    Key,
    NotListed,
    ResourceAction,
    ResponseType,
)

Sentence = Annotated[str, Field(max_length=300)]
VersionNumber = Annotated[int, Field(ge=1, le=2_000_000_000)]
BrandKey = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9-]{0,39}$")]
Host = Annotated[str, Field(max_length=253, pattern=r"^[a-z0-9-]+(\.[a-z0-9-]+)+$")]


class ThemeBrand(Wire):
    """The look of the hosted pages and emails."""

    contract: Contract | None = None
    display_name: Annotated[str, Field(max_length=100)] = ""
    color: Hex | None = None
    logo: OwnPicture | None = None
    logo_dark: OwnPicture | None = None
    favicon: OwnPicture | None = None
    scene: Scene | None = None
    drawing: Drawing | None = None
    picture: FileUrl | None = None
    background: Hex | None = None
    background_dark: Hex | None = None
    font: Annotated[str | None, Field(max_length=200)] = None
    font_file: FileUrl | None = None
    sentence: Annotated[dict[Tag, Sentence], Field(max_length=30)] = Field(default_factory=dict)
    signature: Annotated[str | None, Field(max_length=300)] = None
    radius_px: Annotated[int | None, Field(ge=0, le=24)] = None
    button_shape: ButtonShape | None = None
    links: Annotated[dict[str, Annotated[str, Field(max_length=2_000)]], Field(max_length=3)] = Field(
        default_factory=dict
    )
    css: Annotated[str, Field(max_length=16_384)] = ""
    templates: Annotated[dict[TemplateName, Annotated[str, Field(max_length=20_000)]], Field(max_length=60)] = Field(
        default_factory=dict
    )
    texts: Annotated[dict[Tag, Annotated[dict[str, Wording], Field(max_length=2_000)]], Field(max_length=30)] = Field(
        default_factory=dict
    )


class Theme(Wire):
    """A look of the hosted pages and emails. The active one is on every page, and changes to it show at once.

    An address, a custom domain, a workflow, an application or an organization can choose another one; what it leaves null is inherited.
    """

    id: Annotated[str, Key("themeId", is_minted=True)]
    name: Annotated[str, Field(min_length=1, max_length=60)]
    brand_key: Annotated[
        BrandKey | None,
        Distinct(BadField),
        Field(
            description="The key by which an address chooses the theme, as in `/login?brand=hazel`. Without one, no address does."
        ),
    ] = None
    brand_host: Annotated[
        Host | None,
        Distinct(BadField),
        Field(description="The verified custom domain whose pages have the theme."),
    ] = None
    is_active: Annotated[bool, READ_ONLY] = False
    brand: ThemeBrand = ThemeBrand()
    version: Annotated[
        VersionNumber | None,
        VERSION,
        ResponseType(int),
        Field(
            description="The version that is published. An update that sends the version it was made to is refused with 8202 if another "
            "one is published; without it, the last update wins."
        ),
    ] = None
    favicon: Annotated[str | None, COMPUTED, NotListed()] = None
    logo: Annotated[str | None, COMPUTED, NotListed()] = None
    body: Annotated[ThemeBody | None, COMPUTED, NotListed()] = None
    content: Annotated[ThemeContent | None, COMPUTED, NotListed()] = None
    variables: Annotated[Variables | None, COMPUTED, NotListed()] = None
    pages: Annotated[ThemePages | None, COMPUTED, NotListed()] = None
    locales: Annotated[Locales | None, COMPUTED, NotListed(), Field(max_length=30)] = None
    created_date: Annotated[str | None, CREATED_AT] = None
    last_modified_date: Annotated[str | None, MODIFIED_AT] = None


class StoredTheme(ConfigurationModel):
    """A look that the tenant keeps."""

    name: Annotated[str, Field(min_length=1, max_length=60)]
    brand_key: BrandKey | None = Field(
        default=None,
        description="The key by which [`brand` in an address](theming.md#several-brands) chooses the theme. If absent, no address does.",
    )
    brand_host: Host | None = Field(default=None, description="The verified custom domain whose pages have the theme.")
    brand: Brand = Brand()


class VersionedTheme(StoredTheme):
    """A look as it is stored: with the number of its published version."""

    version: int = 1


class ThemeActivated(Wire):
    is_active: bool = True


THEMES = collection(
    "themes", "/v2/manage/hosted-pages/themes", Theme, verbs=(LIST, CREATE, READ, UPDATE, DELETE), noun="theme",
    about="A theme is a look of the hosted pages and emails. The active one is on every page, and changes to it show at "
    "once.",
    scope="template", takes_markup=True,
    unique=("name",), exists=BadField, unknown=UnknownTheme, outdated=ThemeChanged, content=VersionedTheme,
    file_content=StoredTheme, file_key="themes",
    file_note="Looks to switch between. The one that equals `brand` is active.",
    actions=(
        ResourceAction(
            "activate", "PUT /v2/manage/hosted-pages/themes/{themeId}/activate", "Activate a theme",
            description="Shows the theme on every hosted page and in every email, instead of the one before.",
            answer=ThemeActivated,
        ),
    ),
)  # fmt: skip
