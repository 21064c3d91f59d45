"""The interface's own spelling of a theme: views of the brand's members, which the service translates. The docstrings are published."""

from collections.abc import Mapping
from typing import Annotated, Final

from pydantic import Field

from app.contract.configuration_model import Tag
from app.kit.operations.wire import Wire
from app.kit.text.tenant_texts import FIELD_LABELS, PLACEHOLDER

MAX_FILES: Final = 20
Label = Annotated[str, Field(max_length=600)]
Labels = Annotated[dict[str, Label], Field(max_length=100)]


class ThemeBody(Wire):
    """Background and font: `Brand.Background`, `Brand.Font` and `Brand.Picture`."""

    background_color: str | None = None
    text_color: str | None = None
    font_family: str | None = None
    background_image: str | None = None


class ThemeContent(Wire):
    """Seven texts in the tenant’s default language."""

    heading: str | None = None
    paragraph: str | None = None
    login_label: str | None = None
    signup_label: str | None = None
    forgot_password_label: str | None = None
    forgot_password_message: str | None = None
    social_block_label: str | None = None


class ThemePage(Wire):
    """The layout, style sheets and scripts of pages."""

    html: str = ""
    before_script: str = ""
    end_script: str = ""
    head_tags: str = ""
    css: Annotated[list[str], Field(max_length=MAX_FILES)] = Field(default_factory=list)
    js: Annotated[list[str], Field(max_length=MAX_FILES)] = Field(default_factory=list)


class ThemePages(Wire):
    """Layouts and style sheets of the pages."""

    auth: ThemePage = Field(default_factory=ThemePage)
    profile: ThemePage = Field(default_factory=ThemePage)
    workflow: ThemePage = Field(default_factory=ThemePage)


class ValidationMessage(Wire):
    """What a field says if its value breaks a rule."""

    rule: Annotated[str, Field(alias="rule", max_length=40)]
    message: Annotated[Label, Field(alias="message")]


class ErrorMessage(Wire):
    """What pages say for an error code."""

    code: Annotated[int, Field(alias="code")]
    message: Annotated[Label, Field(alias="message")]
    description: Annotated[str, Field(alias="description", max_length=600)] = ""


class PasswordMeter(Wire):
    """A step of a password meter."""

    case: Annotated[str, Field(alias="case", max_length=40)]
    message: Annotated[str, Field(alias="message", max_length=600)] = ""
    color: Annotated[str, Field(alias="color", max_length=40)] = ""


class LocaleInfo(Wire):
    """The texts of fields, buttons and errors in a language."""

    labels: Annotated[Labels, Field(alias="labels")] = Field(default_factory=dict)
    placeholders: Annotated[Labels, Field(alias="placeholders")] = Field(default_factory=dict)
    validation_messages: Annotated[list[ValidationMessage], Field(alias="validationMessages", max_length=100)] = Field(
        default_factory=list
    )
    error_messages: Annotated[list[ErrorMessage], Field(alias="errorMessages", max_length=100)] = Field(
        default_factory=list
    )
    password_meter_configuration: Annotated[
        list[PasswordMeter], Field(alias="passwordMeterConfiguration", max_length=20)
    ] = Field(default_factory=list)
    buttons_name: Annotated[Labels, Field(alias="buttonsName")] = Field(default_factory=dict)


Variables = Annotated[dict[str, Annotated[str, Field(max_length=200)]], Field(max_length=100)]
Locales = dict[Tag, LocaleInfo]

CONTENT: Final[Mapping[str, str]] = {
    "login_label": "sign_in",
    "signup_label": "create_account",
    "forgot_password_label": "forgot_password",
    "forgot_password_message": "enter_your_email_and_well_send",
    "social_block_label": "or_with_your_email",
}
"""Texts of `ThemeContent` by their key; `heading` is the brand's sentence, and `paragraph` its signature."""
LABELS: Final[Mapping[str, str]] = {
    "emailid": "email",
    "username": "username",
    "phoneid": "phone_number",
    "password": "password",
    "oldpassword": "current_password",
    "newpassword": "new_password",
    "prefix": "title",
    "firstname": "first_name",
    "middlename": "middle_name",
    "lastname": "last_name",
    "nickname": "nickname",
    "birthdate": "date_of_birth",
    "gender": "gender",
    "company": "company",
    "website": "website",
    "address": "address",
    "city": "city",
    "state": "state_or_region",
    "about": "about_you",
    "otp": "6_digit_code",
}
PLACEHOLDERS: Final[Mapping[str, str]] = {
    name: f"{PLACEHOLDER}{key}" for name, key in LABELS.items() if key in FIELD_LABELS
}
BUTTONS: Final[Mapping[str, str]] = {
    "login": "sign_in",
    "registration": "create_account",
    "forgotpassword": "send_reset_link",
    "resetpassword": "save_password",
    "changepassword": "change_password",
    "setpassword": "set_password",
    "profileeditor": "save_changes",
    "verify": "verify",
    "continue": "continue",
    "resendotp": "resend_code",
    "sendotp": "send_code",
    "addemail": "add_email",
}
RULES: Final[Mapping[str, str]] = {
    "required": "fill_in_this_field",
    "valid_email": "enter_a_valid_email_address",
    "valid_date": "enter_a_valid_date",
    "valid_phoneno": "enter_a_valid_phone_number",
}
ERRORS: Final[Mapping[int, str]] = {
    936: "you_already_have_an_account_with_this",
    966: "wrong_email_or_password",
    967: "wrong_password",
}
