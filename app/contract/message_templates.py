"""Management programs read and write the tenant's own mails and text messages (interface tenant-config.md section 7)."""

from typing import Annotated, Literal

from pydantic import Field

from app.contract import errors as e
from app.contract.messages import MailTemplate
from app.contract.messages import SmsTemplate as SmsContent
from app.contract.resources import collection
from app.kit.resource import (
    COMPUTED,
    CREATE,
    DELETE,
    LIST,
    READ,
    UPDATE,
    InOwnStore,
    Key,
    ResponseType,
    StoredAs,
    VerbOptions,
)
from app.kit.wire import Wire

Type = Annotated[str, Field(max_length=60), Key("templateType"), StoredAs("type")]


class EmailTemplate(Wire):
    """`VerificationTokenType` is null if the email contains neither a link nor a code, or both."""

    template_type: Type
    template_name: Annotated[str | None, Field(max_length=100), Key(), StoredAs("name"), ResponseType(str)] = None
    subject: Annotated[str, Field(max_length=300)]
    template: Annotated[str, Field(max_length=100_000), StoredAs("html")]
    text_template: Annotated[str | None, Field(max_length=100_000), StoredAs("text")] = None
    from_name: Annotated[str | None, Field(max_length=60), StoredAs("sender_name")] = None
    from_email: Annotated[str | None, Field(max_length=320), COMPUTED, ResponseType(str)] = None
    verification_token_type: Annotated[Literal["Otp", "link"] | None, StoredAs("carries")] = None
    is_active: bool = True


class SmsTemplate(Wire):
    sms_template_type: Type
    name: Annotated[str, Field(max_length=100), Key()]
    template: Annotated[str, Field(max_length=1_000), StoredAs("text")]


_AREA = "message_templates"

MAILS = collection(
    _AREA, "/v2/manage/email-templates", EmailTemplate, kind="mail_templates", noun="email template", scope="template",
    backing=InOwnStore(), content=MailTemplate, ids=("type", "known_as"), file_key="mail_templates", most=200,
    exists=e.MailTemplateExists, unknown=e.UnknownMailTemplate, takes_markup=True, is_paged=False,
    audit="template", audit_names=("kind", "name"),
    verbs=(
        VerbOptions(LIST, "list_mails", "List the tenant's own email templates.", e.MailTemplateNotConfigured),
        VerbOptions(READ, "read_mails", "List the tenant's own email templates of one type.", e.UnknownMailTemplate, (e.UnknownMailType,)),
        VerbOptions(CREATE, "add_mail", "Create an email template.", errors=(e.MailTemplateNotConfigured, e.UnknownMailType)),
        VerbOptions(UPDATE, "change_mail", "Replace an email template; `TemplateName` says which one.", errors=(e.UnknownMailType,)),
        VerbOptions(DELETE, "remove_mail", "Delete an email template; the built-in one is sent again.", errors=(e.UnknownMailType,)),
    ),
)  # fmt: skip
SMS = collection(
    _AREA, "/v2/manage/sms-templates", SmsTemplate, kind="sms_templates", noun="text message template", scope="template",
    also=("/v2/manage/smstemplates",), backing=InOwnStore(), content=SmsContent, ids=("type", "known_as"),
    file_key="sms_templates", most=100, exists=e.SmsTemplateExists, unknown=e.UnknownSmsTemplate, is_paged=False,
    audit="template", audit_names=("kind", "name"),
    verbs=(
        VerbOptions(LIST, "list_sms", "List the tenant's own text message templates.", e.UnknownSmsTemplate),
        VerbOptions(
            READ, "read_sms", "List the tenant's own text message templates of one type.", e.UnknownSmsTemplate, (e.UnknownSmsType,),
        ),
        VerbOptions(CREATE, "add_sms", errors=(e.UnknownSmsTemplate, e.UnknownSmsType)),
        VerbOptions(UPDATE, "change_sms", "Replace a text message template; `Name` says which one.", errors=(e.UnknownSmsType,)),
        VerbOptions(DELETE, "remove_sms", "Delete a text message template; the built-in one is sent again.", errors=(e.UnknownSmsType,)),
    ),
)  # fmt: skip
