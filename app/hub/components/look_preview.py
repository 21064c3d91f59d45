"""The look of an organization on its settings page: how its sign-in page would look, and whether its color is readable."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from flask_babel import format_decimal

from app.hub.locale import lazy_gettext as _l
from app.hub.tenants.branding import PageBranding, valid_colour
from app.kit.design.colour import WHITE
from app.kit.design.palette import ButtonContrast, button_contrast

SELECTOR: Final = ".preview figure,.upload .tile"
_SHADES: Final = (
    "--canvas",
    "--line",
    "--muted",
    "--ink",
    "--brand",
    "--on-brand",
    *(f"--g{number}" for number in range(7)),
)
SWATCHES: Final = (
    ("#3f4bdc", _l("Indigo")),
    ("#0a7d55", _l("Green")),
    ("#0e6ba8", _l("Blue")),
    ("#7a3ff2", _l("Violet")),
    ("#c2255c", _l("Rose")),
    ("#c2410c", _l("Rust")),
    ("#f2b705", _l("Yellow")),
    ("#1f2937", _l("Slate")),
)
"""Colors to pick from, with their names."""
_NEAR: Final = 24
"""Colors whose channels differ by less, of 255 each, look the same in a list."""


def swatches_beside(colour: str) -> tuple[tuple[str, Any], ...]:
    """Return the colors to pick from that do not look like `colour` (#rrggbb), which the page offers as the default."""
    own = bytes.fromhex(colour[1:])
    return tuple(
        (code, name)
        for code, name in SWATCHES
        if any(abs(one - other) >= _NEAR for one, other in zip(bytes.fromhex(code[1:]), own, strict=True))
    )


@dataclass(frozen=True)
class LookPreview:
    """The branding of an organization's sign-in page."""

    brand: PageBranding
    has_own_colour: bool = True

    @classmethod
    def of(cls, tenant: PageBranding, name: str, logo: str, colour: str) -> LookPreview:
        """Return the preview; a text that is no color shows the tenant's."""
        return cls(tenant.for_organization(name, logo, colour), bool(valid_colour(colour, "")))

    @property
    def css(self) -> str:
        """The tokens of the preview as CSS."""
        return self.brand.shades_for(SELECTOR, _SHADES)

    @property
    def is_readable(self) -> bool:
        """Whether the color itself is the ground of readable text."""
        return self._contrast.is_brand_readable

    @property
    def verdict(self) -> Any:
        """A sentence about the text on the color, with contrast ratios (WCAG 2.2)."""
        contrast, name = self._contrast, self.brand.name
        if not self.has_own_colour:
            return _l("Default: the color of %(name)s.", name=name)
        values = {"ratio": _ratio(contrast.on_brand), "shade": str(contrast.fill), "better": _ratio(contrast.on_fill)}
        if not self.is_readable:
            return _l(
                "White text is hard to read on it (%(ratio)s:1). Buttons use %(shade)s instead (%(better)s:1).",
                **values,
            )
        if contrast.text == WHITE:
            return _l("White text on it reads well: contrast %(ratio)s:1.", **values)
        return _l("Dark text on it reads well: contrast %(ratio)s:1.", **values)

    @property
    def _contrast(self) -> ButtonContrast:
        return button_contrast(self.brand.colour)


def _ratio(contrast: float) -> str:
    """Return a contrast ratio with one decimal, never rounded up to one that is enough."""
    text: str = format_decimal(int(contrast * 10) / 10, format="0.0")
    return text
