"""What a tenant's layouts can use: the templates of a theme, their values and parts (docs/theming.md)."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping
from typing import Final, Literal, Protocol

from app.kit.templating import language
from app.kit.templating.contract import ClassEffects, Items, Part, TemplateContract, Value, ValueKind
from app.kit.text.source_texts import text_keys
from app.kit.text.tenant_texts import OWN, TextsByLanguage

CONTRACT: Final = 1
"""The contract of themes that this version has (docs/theme-contract.md)."""
LayoutName = Literal["layouts/split.html", "layouts/console.html"]

BRAND: Final[Mapping[str, Value | Items]] = {
    "name": Value(ValueKind.TEXT, "The tenant’s name."),
    "organization": Value(ValueKind.TEXT, "The organization that the sign-in is for; empty without one."),
    "language": Value(ValueKind.TEXT, "The tag of the page’s language, such as `en`."),
    "direction": Value(ValueKind.TEXT, "`ltr` or `rtl`."),
    "links": Items(
        {
            "kind": Value(ValueKind.TEXT, "`privacy`, `terms` or `help`."),
            "text": Value(ValueKind.TEXT, "The link’s text."),
            "address": Value(ValueKind.ADDRESS, "Its address."),
        },
        "The theme’s `links`.",
    ),
}
_PARTS: Final = {
    "mark": Part("Logo and name of the tenant or the organization."),
    "content": Part("The page itself: heading, form, errors and ways out.", is_required=True),
    "footer": Part("The languages and the links, as the built-in layout has them."),
    "languages": Part("The links to the page in the tenant’s other languages.", is_required=True),
}
_FOOTER: Final = {"languages": frozenset({"footer"})}
LAYOUTS: Final[Mapping[str, TemplateContract]] = {
    "layouts/split.html": TemplateContract(
        values={
            **BRAND,
            "sentence": Value(ValueKind.TEXT, "The theme’s sentence in the page’s language."),
            "signature": Value(ValueKind.TEXT, "The theme’s signature."),
            "has_scene": Value(ValueKind.FLAG, "Whether the theme has a scene."),
        },
        parts={
            **_PARTS,
            "application": Part("The logo of the application that the sign-in is for, if it has one."),
            "scene": Part("The drawing or picture with sentence and signature."),
        },
        instead=_FOOTER,
    ),
    "layouts/console.html": TemplateContract(
        values={**BRAND, "section": Value(ValueKind.TEXT, "`profile`, `security`, `organizations` or `apps`.")},
        parts={
            **_PARTS,
            "tabs": Part("The links to the sections of the account.", is_required=True),
            "sign_out": Part("The link that signs out.", is_required=True),
            "application": Part("The link back to the application."),
            "bar": Part("The built-in head: logo, link back and sign-out."),
        },
        instead={**_FOOTER, "sign_out": frozenset({"bar"})},
    ),
}
"""By the name of the file below `templates/`."""
MAILS: Final = "mails/"
"""The beginning of names of the templates of mails (`mail_templates`)."""


class TemplatesOfTheme(Protocol):
    """The members of a theme that its templates are checked by."""

    @property
    def contract(self) -> int:
        """The contract that they are written for."""

    @property
    def templates(self) -> Mapping[str, str]:
        """The sources by the names of the files."""


def is_shown(texts: TextsByLanguage, ours: Container[str] | None = None) -> language.IsText:
    """Return whether a template may show the text of a key: one of ours without plural forms, or one of the theme's own.

    Args:
        ours: the keys of another version, which tells no plural forms; None for this version.
    """
    own = {key for wordings in texts.values() for key in wordings if key.startswith(OWN)}
    current = text_keys().current
    known = current if ours is None else ours

    def is_text(key: str) -> bool:
        return key in own or (key in known and not (key in current and current[key].plural))

    return is_text


def problems(
    contracts: Mapping[LayoutName, TemplateContract] | Mapping[str, TemplateContract],
    brand: TemplatesOfTheme,
    is_text: language.IsText,
    effects: ClassEffects,
) -> Iterator[tuple[str, int, str]]:
    """Yield (template, line, what is expected) for what the layouts or parts among a theme's templates cannot have.

    Args:
        contracts: by the name of the template.
        is_text: as `is_shown` returns it.
        effects: of its style sheet.
    """
    for name, contract in contracts.items():
        if name in brand.templates:
            written = contract.written_for(brand.contract)
            for problem in language.problems(brand.templates[name], written, is_text, effects):
                yield name, problem.line, problem.sentence
