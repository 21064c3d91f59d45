"""Management programs keep themes and their files, and activate one. The docstrings are published."""

from typing import Annotated, Final

from pydantic import Field

from app.contract.auth import MACHINE_TOKEN
from app.contract.catalogue import operation
from app.contract.configuration_model import ConfigurationModel, OwnPicture, Tag
from app.contract.error_profiles import MANAGE
from app.contract.errors import BadField, ThemeChanged, ThemeFileInUse, ThemeFileRefused, UnknownTheme, UnknownThemeFile
from app.contract.images.uploads import CONVERTS_IMAGE
from app.contract.resources import collection
from app.contract.shared_responses import Deleted
from app.contract.tenants.branding import (
    Brand,
    ButtonShape,
    ColorScheme,
    Contract,
    Drawing,
    FileDigest,
    FileName,
    FileUrl,
    Hex,
    Line,
    OwnColors,
    Scene,
    ScriptPlace,
    ScriptText,
    Wording,
)
from app.contract.themes.template_names import MAX_TEMPLATES, TemplateName
from app.contract.themes.theme_members import Locales, ThemeBody, ThemeContent, ThemePages, Variables
from app.kit.design.theme_file_names import MAX_FILES
from app.kit.operations.operation import Accept
from app.kit.operations.wire import From, Wire, at_most_names
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
from app.kit.text.tenant_texts import MAX_TEXT_LENGTH

Sentence = Annotated[str, Field(max_length=MAX_TEXT_LENGTH)]
VersionNumber = Annotated[int, Field(ge=1, le=2_000_000_000)]
BrandKey = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9-]{0,39}$")]
Host = Annotated[str, Field(max_length=253, pattern=r"^[a-z0-9-]+(\.[a-z0-9-]+)+$")]


class ThemeBrand(Wire):
    """The look of the hosted pages and emails."""

    # `Brand` and `theme_problems.py` bound what it may have, as for configuration files: a smaller bound here would refuse their themes.
    contract: Contract | None = None
    display_name: Line = ""
    color: Hex | None = None
    logo: OwnPicture | None = None
    logo_dark: OwnPicture | None = None
    favicon: OwnPicture | None = None
    scene: Scene | None = None
    drawing: Drawing | None = None
    picture: FileUrl | None = None
    background: Hex | None = None
    background_dark: Hex | None = None
    color_scheme: ColorScheme | None = None
    colors: Annotated[OwnColors, Field(max_length=2)] = Field(default_factory=dict)
    font: Annotated[str | None, Field(max_length=200)] = None
    font_file: FileUrl | None = None
    sentence: dict[Tag, Sentence] = Field(default_factory=dict)
    signature: Line | None = None
    radius_px: Annotated[int | None, Field(ge=0, le=24)] = None
    button_shape: ButtonShape | None = None
    links: Annotated[dict[str, Annotated[str, Field(max_length=2_000)]], Field(max_length=3)] = Field(
        default_factory=dict
    )
    css: Annotated[str, Field(max_length=16_384)] = ""
    templates: Annotated[dict[TemplateName, Annotated[str, Field(max_length=20_000)]], at_most_names(MAX_TEMPLATES)] = (
        Field(default_factory=dict)
    )
    files: Annotated[dict[FileName, FileDigest], Field(max_length=MAX_FILES)] = Field(default_factory=dict)
    scripts: dict[ScriptPlace, ScriptText] = Field(default_factory=dict)
    texts: dict[Tag, dict[str, Wording]] = Field(default_factory=dict)


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
    script_problems: Annotated[
        list[str],
        READ_ONLY,
        NotListed(),
        Field(
            description="Why pages leave out scripts of the theme, such as an origin that the operator doesn’t allow any more."
        ),
    ] = Field(default_factory=list)
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


class ThemeOfFile(StoredTheme):
    """A look in a configuration file. The folder is replaced by its brand before the file is validated."""

    theme: str | None = Field(default=None, description="A theme folder next to the file, instead of `brand`.")


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
    file_content=ThemeOfFile, file_key="themes",
    file_note="Looks to switch between. The one that equals `brand` is active.",
    actions=(
        ResourceAction(
            "activate", "PUT /v2/manage/hosted-pages/themes/{themeId}/activate", "Activate a theme",
            description="Shows the theme on every hosted page and in every email, instead of the one before.",
            answer=ThemeActivated,
        ),
    ),
)  # fmt: skip

_FILES: Final = "/v2/manage/hosted-pages/themes/{themeId}/files"
_FILE: Final = f"{_FILES}/{{folder}}/{{fileName}}"


class ThemeFilesOf(Wire):
    theme_id: Annotated[str, From.PATH, Field(alias="themeId", description="The theme’s ID.")]


class ThemeFileOf(ThemeFilesOf):
    folder: Annotated[str, From.PATH, Field(alias="folder", description="“img” or “fonts”.")]
    file_name: Annotated[str, From.PATH, Field(alias="fileName", description="The file’s name, such as “logo.svg”.")]

    @property
    def name(self) -> str:
        return f"{self.folder}/{self.file_name}"


class NewThemeFile(ThemeFileOf):
    content: Annotated[str, Field(max_length=960_000, description="The file in base64.")]


class ThemeFile(Wire):
    """A file of a theme."""

    name: Annotated[str, Field(description="Its name in the theme, such as “img/logo.svg”.")]
    digest: Annotated[str, Field(description="The first half of the SHA-256 of its content, in hex.")]
    media_type: Annotated[str, Field(description="Its media type.")]
    size_bytes: Annotated[int, Field(description="Its size in bytes.")]
    path: Annotated[str, Field(description="Its address on the tenant’s host.")]


class ThemeFileContent(ThemeFile):
    """A file of a theme, with its content."""

    content: Annotated[str, Field(description="The file in base64.")]


class ThemeFiles(Wire):
    """The files of a theme, by name."""

    data: Annotated[list[ThemeFile], Field(description="The files.")]


list_files = operation(
    "themes.list_files", f"GET {_FILES}", ThemeFilesOf, ThemeFiles, auth=MACHINE_TOKEN, scope="template:read",
    error_profile=MANAGE, errors=(UnknownTheme,), summary="List the files of a theme",
    description="Returns the pictures and fonts of a theme, with their digests and addresses.",
)  # fmt: skip
read_file = operation(
    "themes.read_file", f"GET {_FILE}", ThemeFileOf, ThemeFileContent, auth=MACHINE_TOKEN, scope="template:read",
    error_profile=MANAGE, errors=(UnknownTheme, UnknownThemeFile), summary="Read a file of a theme",
    description="Returns a picture or font of a theme in base64.",
)  # fmt: skip
put_file = operation(
    "themes.put_file", f"PUT {_FILE}", NewThemeFile, ThemeFile, auth=MACHINE_TOKEN, scope="template:update",
    error_profile=MANAGE, accepts=Accept.JSON, heavy_work=CONVERTS_IMAGE, errors=(UnknownTheme, ThemeFileRefused, BadField),
    summary="Add or replace a file of a theme",
    description="Stores a picture (svg, png, jpg, webp, avif, ico) or a font (woff2) of up to 700 kB. A theme has up to 100 files "
    "and 4 MB. The theme’s logo, style sheet and templates name it as `img/NAME` or `fonts/NAME`; a changed file has a new address.",
)  # fmt: skip
delete_file = operation(
    "themes.delete_file", f"DELETE {_FILE}", ThemeFileOf, Deleted, auth=MACHINE_TOKEN, scope="template:delete",
    error_profile=MANAGE, errors=(UnknownTheme, UnknownThemeFile, ThemeFileInUse), summary="Delete a file of a theme",
    description="Removes a file from a theme. One that the theme’s logo, style sheet or templates name can’t be removed.",
)  # fmt: skip
