"""The names of the templates that a theme can replace."""

from __future__ import annotations

from typing import Annotated, Final

from pydantic import AfterValidator

from app.contract.themes.layout_templates import LAYOUTS
from app.kit.near_names import near_name

MAX_TEMPLATES: Final = 200
"""More than there are names; a search for what each of many unknown names could mean would take seconds."""


def _template_name(name: str) -> str:
    from app.contract.themes.page_templates import names

    if name not in (known := names()):
        raise ValueError(
            f"a template that a theme can replace, such as {near_name(name, known) or next(iter(LAYOUTS))}"
        )
    return name


TemplateName = Annotated[str, AfterValidator(_template_name)]
