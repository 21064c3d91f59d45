"""What a tenant's templates of parts can use: the insides of fields, buttons and messages of every page (docs/theme-contract.md)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from app.kit.templating.contract import Part, TemplateContract, Value, ValueKind, flag_of
from app.kit.templating.page_markup import LINE, REPEATED


def _has(name: str) -> dict[str, Value]:
    return {flag_of(name): Value(ValueKind.FLAG, f"Whether {name}() has anything.")}


def _flag(meaning: str) -> Value:
    return Value(ValueKind.FLAG, meaning)


_FIELD: Final = {
    "field": Value(ValueKind.TEXT, "The field’s name, such as `identifier` or `password`."),
    "is_wrong": _flag("Whether the field has an error."),
    "is_required": _flag("Whether the field must be filled in."),
}
_LABEL: Final = Part("The label.", is_required=True)
_PROBLEM: Final = Part("The error, which our pages have beside the label.", is_required=True)
_HINT: Final = Part("The hint, below the input.", is_required=True)
_IN_NOTE: Final = {"problem": frozenset({"note"}), "hint": frozenset({"note"})}
_BESIDE: Final = Part("What belongs to the field, such as “Forgot password?”.", is_required=True)
_LINKS: Final = Part("The links to the fields with errors.", is_required=True)
_FIELD_PARTS: Final[Mapping[str, TemplateContract]] = {
    "macros/field.html": TemplateContract(
        values={**_FIELD, **_has("problem"), **_has("hint"), **_has("beside")},
        parts={
            "label": _LABEL,
            "problem": _PROBLEM,
            "control": Part("The input, with its button to show a password.", is_required=True),
            "hint": Part("The hint, below the input, and the rules of a new password.", is_required=True),
            "note": Part("A line that is always there, for the hint or the error, and the rules of a new password."),
            "beside": _BESIDE,
        },
        instead=_IN_NOTE,
        dialect=REPEATED,
        is_within_page=True,
    ),
    "macros/password.html": TemplateContract(
        values={**_FIELD, **_has("problem"), **_has("hint"), **_has("rules"), **_has("beside")},
        parts={
            "label": _LABEL,
            "problem": _PROBLEM,
            "control": Part("The input, with its button to show the password.", is_required=True),
            "hint": _HINT,
            "note": Part("A line that is always there, for the hint or the error."),
            "rules": Part("The rules of a new password.", is_required=True),
            "beside": _BESIDE,
        },
        instead=_IN_NOTE,
        dialect=REPEATED,
        is_within_page=True,
    ),
    "macros/checkbox.html": TemplateContract(
        values=_FIELD,
        parts={
            "control": Part("The box.", is_required=True),
            "label": Part("What it says, with its links.", is_required=True),
        },
        dialect=LINE,
        is_within_page=True,
    ),
}
_MESSAGE_PARTS: Final[Mapping[str, TemplateContract]] = {
    "macros/notice.html": TemplateContract(
        values={"tone": Value(ValueKind.TEXT, "`danger`, `ok` or `note`."), **_has("problems")},
        parts={
            "mark": Part("The icon of the tone."),
            "message": Part("What happened, and what to do.", is_required=True),
            "problems": _LINKS,
        },
        dialect=REPEATED,
        is_within_page=True,
    ),
    "macros/summary.html": TemplateContract(
        values={},
        parts={"message": Part("How many fields to fix.", is_required=True), "problems": _LINKS},
        dialect=LINE,
        is_within_page=True,
    ),
}
_ACTION_PARTS: Final[Mapping[str, TemplateContract]] = {
    "macros/button.html": TemplateContract(
        values={
            "is_plain": _flag("Whether it’s a button without the color of the theme."),
            "is_quiet": _flag("Whether it’s a button without a border."),
            "is_small": _flag("Whether it’s a small button."),
            "is_danger": _flag("Whether it deletes something."),
            "is_link": _flag("Whether it’s a link that looks like a button."),
        },
        parts={
            "label": Part("What it says. While the form is sent, “Signing in…” or such takes the place of all.", True)
        },
        dialect=LINE,
        is_within_page=True,
    ),
    "macros/method.html": TemplateContract(
        values={
            "key": Value(ValueKind.TEXT, "The method, such as `passkey` or the name of a provider."),
            **_has("tag"),
        },
        parts={
            "mark": Part("The icon of the method, or the logo of the provider."),
            "label": Part("The name of the method.", is_required=True),
            "tag": Part("“Last used”.", is_required=True),
        },
        dialect=LINE,
        is_within_page=True,
    ),
    "macros/row.html": TemplateContract(
        values={"tone": Value(ValueKind.TEXT, "`ok`, `warn` or nothing."), **_has("hint"), **_has("tag")},
        parts={
            "icon": Part("The icon."),
            "label": Part("The name of what the row leads to.", is_required=True),
            "hint": Part("A line such as “8 left”.", is_required=True),
            "tag": Part("Its state in a word, such as “On”.", is_required=True),
            "arrow": Part("The mark that it leads somewhere."),
        },
        dialect=LINE,
        is_within_page=True,
    ),
    "macros/chip.html": TemplateContract(
        values={"initials": Value(ValueKind.TEXT, "One or two letters of the account’s name."), **_has("change")},
        parts={
            "face": Part("The initials on a disc."),
            "name": Part("The account.", is_required=True),
            "change": Part("The button or link to another account.", is_required=True),
        },
        dialect=REPEATED,
        is_within_page=True,
    ),
}
PARTS: Final[Mapping[str, TemplateContract]] = {**_FIELD_PARTS, **_ACTION_PARTS, **_MESSAGE_PARTS}
"""By the name of the file below `templates/`. The element around each part is ours, with what it sends and what it is for screen
readers: a field’s container, a button, a link, the box of a message."""
