"""A tenant's branding in the configuration: colour, logo, scene, font, links, and how those of several levels merge. Pages and
emails compute the rest.

Docstrings of the models are published (docs/configuration.md).
"""

import hashlib
import json
from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal, Protocol, Self, get_args

from pydantic import (
    AfterValidator,
    Discriminator,
    Field,
    ModelWrapValidatorHandler,
    ValidationError,
    ValidationInfo,
    model_validator,
)
from pydantic import Tag as UnionTag

from app.contract.configuration_model import STORED, ConfigurationModel, OwnPicture, Tag, WebUrl, plain
from app.contract.themes.layout_templates import CONTRACT
from app.contract.themes.template_names import MAX_TEMPLATES, TemplateName
from app.kit.design import theme_file_names
from app.kit.design.colour import Colour
from app.kit.design.fonts import NotAFontStack, font_stack
from app.kit.design.palette import DARKEST_LIGHT_GROUND, LIGHTEST_DARK_GROUND
from app.kit.near_names import near_name
from app.kit.operations.wire import at_most_names, is_union_tag, union_tag
from app.kit.text.tenant_texts import PluralCategory
from app.kit.web.urls import is_web_url

DEFAULT_LOGO_PATH = "M8 22v-8a6 6 0 0 1 12 0v8h-3.5v-8a2.5 2.5 0 0 0-5 0v8z"
"""SVG path of the logo of a tenant without one, a gate, on a tile of 28 by 28."""
LINKS = ("privacy", "terms", "help")
"""The links of pages and emails."""
SCRIPT_PLACES: Final = ("head_tags", "before_script", "js", "end_script")
"""The members of `Brand.scripts`, in the order of their elements in the head of a page."""
Scene = Literal["dusk", "daylight", "picture", "none"]
Drawing = Literal["ribbons", "ridges", "tiles", "orbits", "stairs", "gate"]
DRAWINGS: tuple[str, ...] = get_args(Drawing)
ButtonShape = Literal["square", "rounded", "pill"]
ColorScheme = Literal["auto", "light", "dark"]


def _contract(number: int) -> int:
    if not 1 <= number <= CONTRACT:
        raise ValueError(f"a contract that this Gatehouse has: at most {CONTRACT}")
    return number


def _link(name: str) -> str:
    if name not in LINKS:
        raise ValueError(f"a link that the pages have: {', '.join(LINKS)}")
    return name


def _script_place(name: str) -> str:
    if name not in SCRIPT_PLACES:
        raise ValueError(f"one of {', '.join(SCRIPT_PLACES)}")
    return name


def _file_url(address: str) -> str:
    if theme_file_names.is_name(address):
        return address
    is_path = address.startswith("/") and not address.startswith("//")
    if not is_path and not (address.startswith("https://") and is_web_url(address)):
        raise ValueError(
            "an https address, a file of the theme such as img/NAME.jpg, or a path of this host such as /theme/NAME"
        )
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


def _mode(name: str) -> str:
    if name not in ("light", "dark"):
        raise ValueError("light or dark")
    return name


def _color_name(name: str) -> str:
    from app.kit.design.own_palette import OWN_NAMES

    if name not in OWN_NAMES:
        near = near_name(name.replace("_", "-").removeprefix("--"), OWN_NAMES)
        hint = "set background and background_dark" if name == "canvas" else f"did you mean {near}?" if near else ""
        raise ValueError(f"one of {', '.join(OWN_NAMES)}" + (f" ({hint})" if hint else ""))
    return name


def _file_name(name: str) -> str:
    if not theme_file_names.is_name(name):
        raise ValueError(theme_file_names.EXPECTED_NAME)
    return name


_TEXT, _FORMS, _LANGUAGES = union_tag("text"), union_tag("forms"), union_tag("languages")


def _kind(value: object) -> str:
    return _FORMS if isinstance(value, dict) else _TEXT


Wording = Annotated[
    Annotated[str, UnionTag(_TEXT)] | Annotated[dict[PluralCategory, str], UnionTag(_FORMS)], Discriminator(_kind)
]
"""A text, or its plural forms. A problem is one of the kind that was sent."""


def _kind_of_line(value: object) -> str:
    return _LANGUAGES if isinstance(value, dict) else _TEXT


Line = Annotated[
    Annotated[str, UnionTag(_TEXT)] | Annotated[dict[Tag, str], UnionTag(_LANGUAGES)], Discriminator(_kind_of_line)
]
"""A line of text for all languages, or one for each."""
Hex = Annotated[str, Field(pattern=r"^#[0-9a-fA-F]{6}$")]
FileName = Annotated[str, AfterValidator(_file_name), Field(max_length=100)]
FileDigest = Annotated[str, Field(pattern=r"^[0-9a-f]{32}$")]
OwnColors = dict[
    Annotated[str, AfterValidator(_mode)],
    Annotated[dict[Annotated[str, AfterValidator(_color_name)], Hex], at_most_names(100)],
]
LightGround = Annotated[Hex, AfterValidator(_light_ground)]
DarkGround = Annotated[Hex, AfterValidator(_dark_ground)]
FontNames = Annotated[str, AfterValidator(_fonts), Field(max_length=200)]
Radius = Annotated[int, Field(ge=0, le=24)]
FileUrl = Annotated[str, AfterValidator(_file_url), Field(max_length=2_000)]
Contract = Annotated[int, AfterValidator(_contract)]
ScriptPlace = Annotated[str, AfterValidator(_script_place)]
ScriptText = Annotated[str, Field(max_length=4_096)]
ThemeName = Annotated[str, Field(max_length=60)]
"""The name of one of the tenant's themes; empty for none."""
MAX_DISPLAY_NAME: Final = 200
MAX_LOGO_BYTES: Final = 8_900
"""Of both logos together: as data: addresses they fit their members and the size budget of a page."""
LOGO_TYPES: Final[Mapping[str, str]] = {
    "svg": "image/svg+xml",
    "png": "image/png",
    "webp": "image/webp",
    "jpg": "image/jpeg",
    "jpeg": "image/jpeg",
}
"""The media types of logos by the endings of their files."""


class Brand(ConfigurationModel):
    """A tenant's branding. Addresses of files are https addresses, or paths of the tenant's own host: `/theme/NAME` is a file of
    `GATEHOUSE_THEME_FILES` (docs/configuration.md)."""

    contract: Contract = Field(
        default=CONTRACT, description="The [contract](theme-contract.md) that the theme’s templates are written for."
    )
    display_name: Line = ""
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
    background: LightGround | None = Field(
        default=None, description="The background of pages in light mode. Default: white."
    )
    background_dark: DarkGround | None = Field(
        default=None,
        description="The background of pages in dark mode. Default: almost black, in the hue of your color.",
    )
    color_scheme: ColorScheme = Field(
        default="auto",
        description="`light` or `dark` for pages that are so on every device. `auto` follows the device.",
    )
    colors: OwnColors = Field(
        default_factory=dict,
        description="Your own [colors](theming.md#set-single-colors) in place of computed ones, by mode (`light`, `dark`) and name.",
    )
    font: FontNames | None = Field(
        default=None,
        description="Font names in order, such as `Inter, Arial, sans-serif`. On Arabic pages, fonts with Arabic letters are behind them. "
        "Default: the device's font.",
    )
    font_file: Annotated[str, AfterValidator(_font_file), Field(max_length=2_000)] | None = Field(
        default=None,
        description="A variable font (woff2) for all pages. Text is in `font` until it has loaded. A font on another host lets that "
        "host see each visit, and that host must allow it by CORS.",
    )
    sentence: dict[Tag, str] = Field(default_factory=dict)
    signature: Line | None = None
    radius_px: Radius = 10
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
    templates: Annotated[dict[TemplateName, str], at_most_names(MAX_TEMPLATES)] = Field(
        default_factory=dict,
        description="Your own [layouts](theming.md#replace-a-layout) of the pages, and your own "
        "[emails](theming.md#theme-the-emails). In a theme folder, each is a file: `templates/layouts/split.html`.",
    )

    files: dict[FileName, FileDigest] = Field(
        default_factory=dict,
        description="Your own [pictures and fonts](theming.md#files-on-your-own-host): the digest of each file by its name, such as "
        "`img/logo.svg`. In a theme folder, they are the files of `static/img` and `static/fonts`.",
    )

    scripts: dict[ScriptPlace, ScriptText] = Field(
        default_factory=dict,
        description="[Scripts](theming.md#scripts) of other hosts, where the operator allows their origins: `js` has an address on each "
        "line, `before_script` and `end_script` have `<script>` elements, and `head_tags` also `<meta>` and `<link>`.",
    )

    @model_validator(mode="after")
    def _agrees(self) -> "Brand":
        if self.scene == "picture" and self.picture is None:
            raise ValueError("picture: the address of a picture, because scene is picture")
        if self.scene != "picture" and self.picture is not None:
            raise ValueError(f"scene: picture, because picture is set; found {self.scene!r}")
        return self

    @model_validator(mode="wrap")
    @classmethod
    def _usable(cls, values: Any, handler: ModelWrapValidatorHandler[Self], info: ValidationInfo) -> Self:
        """Leave out of stored values what this version refuses: a rule that came later takes no page and no operation away."""
        if info.context != STORED:
            return handler(values)
        for _ in range(_ATTEMPTS):
            try:
                return handler(values)
            except ValidationError as problem:
                for error in problem.errors(include_url=False, include_context=False, include_input=False):
                    path = tuple(part for part in error["loc"] if not is_union_tag(part))
                    values = _without(values, path or _AGREEING)
        return handler({})


_ATTEMPTS: Final = 3
"""A value that is left out may leave a scene without its picture."""
_AGREEING: Final = ("scene",)


def _without(values: Mapping[str, Any], path: tuple[int | str, ...]) -> dict[str, Any]:
    """Return the values without the one at a path, or the innermost one around it that has a name, and without what is empty then."""
    name, rest = path[0], path[1:]
    inner = values.get(str(name))
    if rest and isinstance(inner, Mapping) and rest[0] in inner and (left := _without(inner, rest)):
        return {**values, str(name): left}
    left_out = {name, "picture"} if name == "scene" else {name}
    return {key: value for key, value in values.items() if key not in left_out}


def line_in(line: str | Mapping[str, str] | None, language: str, default: str = "") -> str:
    """Return a line in a language, else in the tenant's `default` language, else in the first that it has; empty for none."""
    if isinstance(line, Mapping):
        return line.get(language) or line.get(default) or next(filter(None, line.values()), "")
    return line or ""


def line_with(line: str | Mapping[str, str] | None, language: str, text: str) -> str | dict[str, str]:
    """Return a line with another text in a language: of a line for all languages, the whole; empty if the text is."""
    return {**line, language: text} if isinstance(line, Mapping) and text else text


def stored_brand(values: Mapping[str, Any] | None) -> Brand:
    """Return the brand of stored values, where null is the default, without what this version refuses."""
    return Brand.model_validate(set_members(values), context=STORED)


class ThemeSources(Protocol):
    """The members of a look that can fail: what a tenant wrote, and this version of Gatehouse may refuse."""

    @property
    def templates(self) -> Mapping[str, str]: ...
    @property
    def contract(self) -> int: ...
    @property
    def css(self) -> str: ...
    @property
    def texts(self) -> Mapping[str, Any]: ...
    @property
    def files(self) -> Mapping[str, str]: ...


def theme_digest(look: ThemeSources) -> str:
    """Return the SHA-256 digest that names a version of a theme where it fails, in hexadecimal; empty for one that cannot fail."""
    if not (look.templates or look.css):
        return ""
    content = json.dumps([look.templates, look.contract, look.css, look.texts, look.files], sort_keys=True)
    return hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest()


def own_colours(colors: Mapping[str, Mapping[str, str]]) -> tuple[tuple[str, str, str], ...]:
    """Return the mode, name and value of each of a theme's own colors."""
    return tuple((mode, name, value) for mode, each in colors.items() for name, value in each.items())


def set_members(brand: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the members that a brand sets: null and what is empty set nothing, so that wider levels and defaults show."""
    return {name: value for name, value in (brand or {}).items() if value not in (None, "", {})}
