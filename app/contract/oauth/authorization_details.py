"""Types of rich authorization requests (RFC 9396), as a tenant declares them."""

from typing import Annotated, Any

from pydantic import AfterValidator, Field

from app.contract.configuration_model import ConfigurationModel, Tag
from app.contract.consents.forms import Sentence

MAX_LENGTH = 8_000
"""Of the parameter `authorization_details`, in characters."""
COMMON_FIELDS = ("locations", "actions", "datatypes", "identifier", "privileges")
"""Fields that every type has (RFC 9396 section 2.2)."""

TypeName = Annotated[str, Field(pattern=r"^[!#-\[\]-~]{1,200}$")]
FieldName = Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9_-]{0,59}$")]
StatedDetails = str | list[dict[str, Any]]
"""The parameter: JSON text in a form, an array in a JSON body."""


def _no_common(fields: dict[str, Any]) -> dict[str, Any]:
    if taken := [name for name in fields if name == "type"]:
        raise ValueError(f"fields beside `type`; found {taken[0]}")
    return fields


class AuthorizationDetailsField(ConfigurationModel):
    """A field of a type, beside the common ones."""

    required: bool = False
    label: dict[Tag, Sentence] = Field(default_factory=dict)  # by language


class AuthorizationDetailsType(ConfigurationModel):
    """A type of authorization details: its title on the consent page and its fields."""

    title: dict[Tag, Sentence] = Field(default_factory=dict)  # by language
    fields: Annotated[dict[FieldName, AuthorizationDetailsField], AfterValidator(_no_common)] = Field(
        default_factory=dict, max_length=50
    )


AuthorizationDetailsTypes = Annotated[dict[TypeName, AuthorizationDetailsType], Field(max_length=50)]
