"""A tenant's branding in the configuration: colour, logo, scene, font, links. Pages and emails compute the rest.

Docstrings of the models are published (docs/configuration.md).
"""

from typing import Annotated, Literal, get_args

from pydantic import AfterValidator, Discriminator, Field, model_validator
from pydantic import Tag as UnionTag

from app.contract.configuration_model import ConfigurationModel, OwnPicture, Tag, WebUrl, plain
from app.contract.tenants.layout_templates import TemplateName
from app.kit.design.colour import Colour
from app.kit.design.fonts import NotAFontStack, font_stack
from app.kit.design.palette import DARKEST_LIGHT_GROUND, LIGHTEST_DARK_GROUND
from app.kit.operations.wire import union_tag
from app.kit.text.tenant_texts import PluralCategory
from app.kit.web.urls import is_web_url

DEFAULT_LOGO_PATH = "M8 22v-8a6 6 0 0 1 12 0v8h-3.5v-8a2.5 2.5 0 0 0-5 0v8z"
"""SVG path of the logo of a tenant without one, a gate, on a tile of 28 by 28."""
LINKS = ("privacy", "terms", "help")
"""The links of pages and emails."""
Scene = Literal["dusk", "daylight", "picture", "none"]
Drawing = Literal["ribbons", "ridges", "tiles", "orbits", "stairs", "gate"]
DRAWINGS: tuple[str, ...] = get_args(Drawing)
ButtonShape = Literal["square", "rounded", "pill"]


def _link(name: str) -> str:
    if name not in LINKS:
        raise ValueError(f"a link that the pages have: {', '.join(LINKS)}")
    return name


def _file_url(address: str) -> str:
    is_path = address.startswith("/") and not address.startswith("//")
    if not is_path and not (address.startswith("https://") and is_web_url(address)):
        raise ValueError("an https address, or a path of this host such as /theme/NAME")
    return plain(address)


def _font_file(address: str) -> str:
    if not address.partition("?")[0].endswith(".woff2"):
        raise ValueError("the address of a woff2 file")
    return _file_url(address)


def _fonts(text: str) -> str:
    try:
        font_stack(text)
    except NotAFontStack:
        raise ValueError("font names between commas, such as Inter, Arial, sans-serif") from None
    return text


def _light_ground(colour: str) -> str:
    if Colour.parse(colour).oklch[0] < DARKEST_LIGHT_GROUND:
        raise ValueError("a color light enough for dark text, such as #faf7f0")
    return colour


def _dark_ground(colour: str) -> str:
    if Colour.parse(colour).oklch[0] > LIGHTEST_DARK_GROUND:
        raise ValueError("a color dark enough for light text, such as #12131a")
    return colour


_TEXT, _FORMS = union_tag("text"), union_tag("forms")


def _kind(value: object) -> str:
    return _FORMS if isinstance(value, dict) else _TEXT


Wording = Annotated[
    Annotated[str, UnionTag(_TEXT)] | Annotated[dict[PluralCategory, str], UnionTag(_FORMS)], Discriminator(_kind)
]
"""A text, or its plural forms. A problem is one of the kind that was sent."""
Hex = Annotated[str, Field(pattern=r"^#[0-9a-fA-F]{6}$")]
FileUrl = Annotated[str, AfterValidator(_file_url), Field(max_length=2_000)]


class Brand(ConfigurationModel):
    """A tenant's branding. Addresses of files are https addresses, or paths of the tenant's own host: `/theme/NAME` is a file of
    `GATEHOUSE_THEME_FILES` (docs/configuration.md)."""

    display_name: str = ""
    color: Hex = "#3b49d9"
    logo: OwnPicture | None = Field(default=None)  # a data: URI or an https address
    logo_dark: OwnPicture | None = Field(default=None, description="The logo in dark mode. Default: `logo`.")
    favicon: OwnPicture | None = Field(
        default=None, description="The icon of browser tabs. Default: Gatehouse's icon in your color."
    )
    scene: Scene = Field(
        default="dusk",
        description="What wide screens show next to the form: a drawing in your color at `dusk` or in `daylight` (bright colors are "
        "always in daylight), your own `picture`, or `none`.",
    )
    drawing: Drawing | None = Field(
        default=None,
        description="The drawing of the scenes `dusk` and `daylight`. Default: one that follows from the tenant’s name.",
    )
    picture: FileUrl | None = Field(
        default=None, description="The picture for the scene `picture`. It fills half of a wide screen."
    )
    background: Annotated[Hex, AfterValidator(_light_ground)] | None = Field(
        default=None, description="The background of pages in light mode. Default: white."
    )
    background_dark: Annotated[Hex, AfterValidator(_dark_ground)] | None = Field(
        default=None,
        description="The background of pages in dark mode. Default: almost black, in the hue of your color.",
    )
    font: Annotated[str, AfterValidator(_fonts), Field(max_length=200)] | None = Field(
        default=None,
        description="Font names in order, such as `Inter, Arial, sans-serif`. Default: the device's font.",
    )
    font_file: Annotated[str, AfterValidator(_font_file), Field(max_length=2_000)] | None = Field(
        default=None,
        description="A variable font (woff2) for all pages. Text is in `font` until it has loaded. A font on another host lets that "
        "host see each visit, and that host must allow it by CORS.",
    )
    sentence: dict[Tag, str] = Field(default_factory=dict)
    signature: str | None = None
    radius_px: int = Field(default=10, ge=0, le=24)
    button_shape: ButtonShape = Field(
        default="rounded", description="The shape of buttons. `rounded` follows `radius_px`, like fields."
    )
    links: dict[Annotated[str, AfterValidator(_link)], WebUrl] = Field(default_factory=dict)
    texts: dict[Tag, dict[str, Wording]] = Field(
        default_factory=dict,
        description="Your own [texts](theming.md#change-texts) of pages, emails and text messages, by language and key. In a theme "
        "folder, each language is a file: `texts/de.yaml`.",
    )
    css: str = Field(
        default="",
        max_length=16_384,
        description="Your own [style sheet](theming.md#write-css), after ours. In a theme folder, it is the file `static/css/theme.css`.",
    )
    templates: dict[TemplateName, str] = Field(
        default_factory=dict,
        description="Your own [layouts](theming.md#replace-a-layout) of the pages. In a theme folder, each is a file: "
        "`templates/layouts/split.html`.",
    )

    @model_validator(mode="after")
    def _agrees(self) -> "Brand":
        if self.scene == "picture" and self.picture is None:
            raise ValueError("picture: the address of a picture, because scene is picture")
        if self.scene != "picture" and self.picture is not None:
            raise ValueError(f"scene: picture, because picture is set; found {self.scene!r}")
        return self
