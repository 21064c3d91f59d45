"""Management programs read and write custom fields and the registration form.

The docstrings are published."""

from typing import Annotated, Literal

from pydantic import Field

from app.contract import errors
from app.contract.resources import collection, singleton
from app.kit.operations.wire import Wire
from app.kit.resources.resource import (
    COMPUTED,
    CREATE,
    DELETE,
    FIXED,
    LIST,
    READ,
    UPDATE,
    InOwnStore,
    InSettings,
    Key,
    RequestName,
    VerbOptions,
)  # fmt: skip

_CUSTOM_FIELDS = "/v2/manage/custom-fields"
FieldType = Literal["string", "text", "password", "option", "multi"]
Text = Annotated[str, Field(max_length=300)]
Rules = Annotated[str, Field(max_length=500)]
Value = Annotated[str, Field(min_length=1, max_length=200)]


class CustomField(Wire):
    """A field of your own in the profile. `Key` is made from the name, for example `cf_Shoe_size`. The form can show another
    text."""

    key: Annotated[str, Key("key")] = ""
    display: Annotated[str, FIXED, RequestName("CustomField"), Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9 _-]{0,59}$")]


class SchemaOption(Wire):
    value: Annotated[Value, Field(alias="value")]
    text: Annotated[Text, Field(alias="text")] = ""


class SchemaElement(Wire):
    """One field of the registration form. `rules` are joined by `|`: required, matches[field], min_length[n], max_length[n],
    exact_length[n], greater_than[n], less_than[n], and one of integer, decimal, numeric, is_natural, is_natural_no_zero,
    alphanumeric_combo, valid_email, valid_url, valid_ip, valid_base64, valid_phoneno, valid_ca_zip, valid_credit_card,
    callback_valid_date. `display` is in the tenant's default language. An element with `Checked` false is left out."""

    checked: Annotated[bool, Field(alias="Checked")] = True
    type: Annotated[FieldType, Field(alias="type")] = "string"
    name: Annotated[str, Field(alias="name", min_length=1, max_length=63)]
    display: Annotated[Text, Field(alias="display")] = ""
    rules: Annotated[Rules, Field(alias="rules")] = ""
    options: Annotated[list[SchemaOption] | None, Field(alias="options", max_length=300)] = None
    permission: Annotated[Literal["r", "w"], Field(alias="permission")] = "w"
    data_source: Annotated[None, Field(alias="DataSource")] = None
    parent: Annotated[None, Field(alias="Parent")] = None
    parent_data_source: Annotated[None, Field(alias="ParentDataSource")] = None


class RegistrationSchema(Wire):
    """The fields of the sign-up form, in order. With an empty list, the form asks for an identifier and a password."""

    data: Annotated[list[SchemaElement], COMPUTED, Field(max_length=60)] = Field(default_factory=list)


class CustomFieldOption(Wire):
    value: Value
    text: Text = ""


class FormCustomField(Wire):
    """A custom field on the sign-up form."""

    type: FieldType = "string"
    name: Annotated[str, Field(min_length=1, max_length=63)]
    display: Text = ""
    rules: Rules = ""
    permission: Literal["r", "w"] = "w"
    options: Annotated[list[CustomFieldOption] | None, Field(max_length=300)] = None
    checked: bool = True


class FormCustomFields(Wire):
    """The custom fields on the sign-up form. Its other fields stay as they are."""

    data: Annotated[list[FormCustomField], COMPUTED, Field(max_length=15)] = Field(default_factory=list)


class StoredCustomField(Wire):
    """A custom field as the store returns it."""

    display: str = ""


CUSTOM_FIELDS = collection(
    "custom_fields", _CUSTOM_FIELDS, CustomField, verbs=(VerbOptions(LIST, unknown=errors.NoCustomField), CREATE, DELETE),
    noun="custom field",
    about="A custom field is a profile field of your own. Its key is made from its name, for example `cf_Shoe_size`.",
    scope="profile", exists=errors.CustomFieldExists, unknown=errors.NoCustomField, backing=InOwnStore(),
    content=StoredCustomField, max_items=15,
)  # fmt: skip
ON_FORM = singleton(
    "custom_fields", _CUSTOM_FIELDS, FormCustomFields, kind="form_custom_fields", noun="custom fields of the sign-up form",
    about="They say which custom fields people fill in when they sign up. The form’s other fields stay.",
    verbs=(
        VerbOptions(READ, "read_form", path=f"{_CUSTOM_FIELDS}/active", errors=(errors.NoCustomField,)),
        VerbOptions(UPDATE, "change_form", errors=(errors.WrongCustomField,)),
    ),
    scope="profile", backing=InSettings(),
)  # fmt: skip
SCHEMA = singleton(
    "registration_schema", "/v2/manage/registration-schema", RegistrationSchema, kind="registration_schema", noun="sign-up form",
    about="It lists the fields in order. With an empty list, the form asks for an identifier and a password.",
    verbs=(VerbOptions(READ, "read"), VerbOptions(UPDATE, "change")), scope="profile", backing=InSettings(),
)  # fmt: skip
