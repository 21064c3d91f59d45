"""Management programs read and write the tenant's own mails and text messages (interface tenant-config.md section 7)."""

from typing import Annotated, Literal

from pydantic import Field

from app.contract import errors as e
from app.contract.auth import M
from app.contract.error_profiles import MANAGE
from app.contract.groups import Deleted
from app.contract.operations import operation
from app.kit.operation import Accept
from app.kit.wire import From, Nothing, Wire

Type = Annotated[str, Field(max_length=60)]
TemplateType = Annotated[str, From.PATH, Field(alias="templateType")]
Name = Annotated[str, Field(max_length=100)]
TokenType = Literal["Otp", "link"]


class MailTemplateText(Wire):
    """What a template says. Mails come from the installation's own address: another `FromEmail` is refused."""

    template_name: Name | None = None
    subject: Annotated[str, Field(max_length=300)]
    template: Annotated[str, Field(max_length=100_000)]
    text_template: Annotated[str, Field(max_length=100_000)] | None = None
    from_name: Annotated[str, Field(max_length=60)] | None = None
    from_email: Annotated[str, Field(max_length=320)] | None = None
    verification_token_type: TokenType | None = None
    is_active: bool = True


class NewMailTemplate(MailTemplateText):
    template_type: Type


class ChangedMailTemplate(MailTemplateText):
    template_type: TemplateType


class MailTemplateOf(Wire):
    template_type: TemplateType


class MailTemplateGone(Wire):
    template_type: TemplateType
    template_name: Name


class EmailTemplate(Wire):
    """`VerificationTokenType` is null where the mail holds neither, or both a link and a code."""

    template_type: str
    template_name: str
    subject: str
    template: str
    text_template: str | None
    from_name: str | None
    from_email: str
    verification_token_type: TokenType | None
    is_active: bool


class EmailTemplates(Wire):
    data: list[EmailTemplate]


class NewSmsTemplate(Wire):
    sms_template_type: Type
    name: Name
    template: Annotated[str, Field(max_length=1_000)]


class ChangedSmsTemplate(Wire):
    template_type: TemplateType
    name: Name
    template: Annotated[str, Field(max_length=1_000)]


class SmsTemplateOf(Wire):
    template_type: TemplateType


class SmsTemplateGone(Wire):
    template_type: TemplateType
    name: Name


class SmsTemplateText(Wire):
    sms_template_type: str
    name: str
    template: str


class SmsTemplates(Wire):
    data: list[SmsTemplateText]


_MAILS, _SMS, _SMS_OLDER = "/v2/manage/email-templates", "/v2/manage/sms-templates", "/v2/manage/smstemplates"
_ONE = "/{templateType}"

list_mails = operation(
    "message_templates.list_mails", f"GET {_MAILS}", Nothing, EmailTemplates, auth=M, scope="template:read", error_profile=MANAGE,
    errors=(e.MailTemplateNotConfigured,), summary="List the tenant's own email templates.",
)  # fmt: skip
read_mails = operation(
    "message_templates.read_mails", f"GET {_MAILS}{_ONE}", MailTemplateOf, EmailTemplates, auth=M, scope="template:read",
    error_profile=MANAGE, errors=(e.UnknownMailTemplate, e.UnknownMailType), summary="List the tenant's own email templates of one type.",
)  # fmt: skip
add_mail = operation(
    "message_templates.add_mail", f"POST {_MAILS}", NewMailTemplate, EmailTemplate, auth=M, scope="template:create", error_profile=MANAGE,
    accepts=Accept.JSON, takes_markup=True, errors=(e.MailTemplateExists, e.MailTemplateNotConfigured, e.UnknownMailType),
    summary="Create an email template.",
)  # fmt: skip
change_mail = operation(
    "message_templates.change_mail", f"PUT {_MAILS}{_ONE}", ChangedMailTemplate, EmailTemplate, auth=M, scope="template:update",
    error_profile=MANAGE, accepts=Accept.JSON, takes_markup=True, errors=(e.UnknownMailTemplate, e.UnknownMailType),
    summary="Replace an email template; `TemplateName` says which one.",
)  # fmt: skip
remove_mail = operation(
    "message_templates.remove_mail", f"DELETE {_MAILS}{_ONE}", MailTemplateGone, Deleted, auth=M, scope="template:delete",
    error_profile=MANAGE, accepts=Accept.JSON, errors=(e.UnknownMailTemplate, e.UnknownMailType),
    summary="Delete an email template; the built-in one is sent again.",
)  # fmt: skip
list_sms = operation(
    "message_templates.list_sms", f"GET {_SMS}", Nothing, SmsTemplates, auth=M, scope="template:read", error_profile=MANAGE,
    also=(_SMS_OLDER,), errors=(e.UnknownSmsTemplate,), summary="List the tenant's own text message templates.",
)  # fmt: skip
read_sms = operation(
    "message_templates.read_sms", f"GET {_SMS}{_ONE}", SmsTemplateOf, SmsTemplates, auth=M, scope="template:read", error_profile=MANAGE,
    also=(_SMS_OLDER + _ONE,), errors=(e.UnknownSmsTemplate, e.UnknownSmsType),
    summary="List the tenant's own text message templates of one type.",
)  # fmt: skip
add_sms = operation(
    "message_templates.add_sms", f"POST {_SMS}", NewSmsTemplate, SmsTemplateText, auth=M, scope="template:create", error_profile=MANAGE,
    also=(_SMS_OLDER,), accepts=Accept.JSON, errors=(e.SmsTemplateExists, e.UnknownSmsTemplate, e.UnknownSmsType),
    summary="Create a text message template.",
)  # fmt: skip
change_sms = operation(
    "message_templates.change_sms", f"PUT {_SMS}{_ONE}", ChangedSmsTemplate, SmsTemplateText, auth=M, scope="template:update",
    error_profile=MANAGE, also=(_SMS_OLDER + _ONE,), accepts=Accept.JSON, errors=(e.UnknownSmsTemplate, e.UnknownSmsType),
    summary="Replace a text message template; `Name` says which one.",
)  # fmt: skip
remove_sms = operation(
    "message_templates.remove_sms", f"DELETE {_SMS}{_ONE}", SmsTemplateGone, Deleted, auth=M, scope="template:delete",
    error_profile=MANAGE, also=(_SMS_OLDER + _ONE,), accepts=Accept.JSON, errors=(e.UnknownSmsTemplate, e.UnknownSmsType),
    summary="Delete a text message template; the built-in one is sent again.",
)  # fmt: skip
