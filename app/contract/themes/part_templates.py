"""What a tenant's templates of parts can use: the insides of the fields and messages of every page (docs/theme-contract.md)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from app.kit.templating.contract import Part, TemplateContract, Value, ValueKind, flag_of


def _has(name: str) -> dict[str, Value]:
    return {flag_of(name): Value(ValueKind.FLAG, f"Whether {name}() has anything.")}


PARTS: Final[Mapping[str, TemplateContract]] = {
    "macros/field.html": TemplateContract(
        values={
            "field": Value(ValueKind.TEXT, "The field’s name, such as `identifier` or `password`."),
            "is_wrong": Value(ValueKind.FLAG, "Whether the field has an error."),
            "is_required": Value(ValueKind.FLAG, "Whether the field must be filled in."),
            **_has("beside"),
        },
        parts={
            "label": Part("The label.", is_required=True),
            "control": Part("The input, with its button to show a password.", is_required=True),
            "note": Part("The line of the hint or the error, and the rules of a new password.", is_required=True),
            "beside": Part("What belongs to the field, such as “Forgot password?”.", is_required=True),
        },
        is_within_page=True,
    ),
    "macros/notice.html": TemplateContract(
        values={
            "tone": Value(ValueKind.TEXT, "`danger`, `ok` or `note`."),
            **_has("problems"),
        },
        parts={
            "mark": Part("The icon of the tone."),
            "message": Part("What happened, and what to do.", is_required=True),
            "problems": Part("The links to the fields with errors.", is_required=True),
        },
        is_within_page=True,
    ),
}
"""By the name of the file below `templates/`. The element around each part is ours: a field’s container, a message’s box."""
