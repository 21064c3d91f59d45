"""The registration form of a tenant, as configuration: fields, their order and their rules. `/ciam/appinfo` publishes it,
the page renders it, and registration enforces it."""

from collections.abc import Collection, Sequence
from typing import Annotated, Literal

from pydantic import Field, model_validator

from app.contract.configuration_model import ConfigurationModel
from app.contract.profile import FIELDS, Kind, Write
from app.kit.operations.wire import pascal

CUSTOM, TERMS = "cf_", "terms"
IDENTIFIERS = ("email", "username", "phone")
OWN = frozenset({*IDENTIFIERS, "password", TERMS})
"""Field names outside the free profile."""
MAX_LETTERS = 1000
_TEXTUAL = frozenset({Kind.TEXT, Kind.FLAG})
_WRITERS = frozenset({Write.ANYONE, Write.REGISTRATION})
_TYPES = {"password": "password", TERMS: "multi"}

Rule = Literal[
    "", "integer", "decimal", "numeric", "is_natural", "is_natural_no_zero", "alphanumeric_combo", "valid_email", "valid_url", "valid_ip",
    "valid_base64", "valid_phoneno", "valid_ca_zip", "valid_credit_card", "callback_valid_date",
]  # fmt: skip
Text = Annotated[str, Field(max_length=300)]


class Option(ConfigurationModel):
    """One choice; the text by language, the value itself where there is none."""

    value: Annotated[str, Field(min_length=1, max_length=200)]
    text: dict[str, Text] = Field(default_factory=dict)


class FormField(ConfigurationModel):
    """One field. `name` is email, username, phone, password, terms, a text of the profile (first_name), or cf_ and the name
    of a custom field."""

    name: Annotated[str, Field(pattern=r"^([a-z][a-z0-9_]{0,59}|cf_[A-Za-z0-9_-]{1,60})$")]
    label: dict[str, Text] = Field(default_factory=dict, description="The label, by language. Default: the usual one.")
    type: Literal["string", "text", "password", "option", "multi"] = Field(
        default="string", description="One line, several lines, a password, a choice of `options`, or a checkbox."
    )
    required: bool = False
    min_length: int = Field(default=0, ge=0, le=MAX_LETTERS)
    max_length: int = Field(default=MAX_LETTERS, ge=1, le=MAX_LETTERS)
    rule: Rule = ""
    greater_than: float | None = Field(default=None, description="The value is a number above this one.")
    less_than: float | None = Field(default=None, description="The value is a number below this one.")
    matches: str = Field(default="", description="The name of a field that must have the same value.")
    options: tuple[Option, ...] = Field(default=(), max_length=300)

    @model_validator(mode="after")
    def _agrees(self) -> "FormField":
        if not self.is_custom and self.name not in OWN and self.member is None:
            raise ValueError(
                "name: email, username, phone, password, terms, a text field of the profile, or cf_ and the name of a custom field"
            )
        if _TYPES.get(self.name, self.type) != self.type:
            raise ValueError(f"type: {_TYPES[self.name]}, which {self.name} always has")
        if (self.type == "password") != (self.name == "password"):
            raise ValueError("type: password for the field password, and only for it")
        if (self.type == "option") != bool(self.options):
            raise ValueError("options: at least one if the type is option, otherwise none")
        if self.min_length > self.max_length:
            raise ValueError("min_length: at most max_length")
        return self

    @property
    def is_custom(self) -> bool:
        return self.name.startswith(CUSTOM)

    @property
    def member(self) -> str | None:
        """The profile member of the field; None for custom fields and fields outside the profile."""
        known = FIELDS.get(pascal(self.name))
        is_free = known is not None and known.kind in _TEXTUAL and known.write in _WRITERS
        return known.name if known is not None and is_free and not self.is_custom else None

    @property
    def wire_name(self) -> str:
        """The interface's name: in appinfo, and where a refusal names the field."""
        return {"email": "emailid", "phone": "phoneid"}.get(
            self.name, self.name if self.is_custom else self.name.replace("_", "")
        )


def contradiction(form: Sequence[FormField], custom_fields: Collection[str] | None) -> str:
    """Return the problem of a form as a whole, in one clause; empty if there is none.

    Args:
        custom_fields: what the tenant configured; None where that is not known here.
    """
    names = [field.name for field in form]
    if twice := next((name for name in names if names.count(name) > 1), ""):
        return f"{twice} once"
    if "password" not in names or not set(names) & set(IDENTIFIERS):
        return "a password, and an email, a username or a phone, so that the account can be signed in to"
    if stray := next((field.matches for field in form if field.matches and field.matches not in names), ""):
        return f"a field {stray}, because another one must match it"
    custom = [field.name.removeprefix(CUSTOM) for field in form if field.is_custom]
    if custom_fields is not None and (unknown := next((name for name in custom if name not in custom_fields), "")):
        return f"{unknown} in settings.custom_fields, because the form asks for it"
    return ""
