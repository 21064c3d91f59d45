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
    _AREA, "/v2/manage/email-templates", EmailTemplate, kind="mail_templates", noun="email template",
    about="Templates replace the built-in texts of emails.", scope="template",
    backing=InOwnStore(), content=MailTemplate, ids=("type", "known_as"), file_key="mail_templates", most=200,
    exists=e.MailTemplateExists, unknown=e.UnknownMailTemplate, takes_markup=True, is_paged=False,
    audit="template", audit_names=("kind", "name"),
    verbs=(
        VerbOptions(LIST, "list_mails", "", e.MailTemplateNotConfigured),
        VerbOptions(
            READ, "read_mails", "List email templates of a type", e.UnknownMailTemplate, (e.UnknownMailType,),
            description="Returns the tenant’s email templates of one type.",
        ),
        VerbOptions(CREATE, "add_mail", errors=(e.MailTemplateNotConfigured, e.UnknownMailType)),
        VerbOptions(
            UPDATE, "change_mail", errors=(e.UnknownMailType,),
            description="Replaces the email template that `TemplateName` names.",
        ),
        VerbOptions(
            DELETE, "remove_mail", errors=(e.UnknownMailType,),
            description="Deletes an email template. The built-in text is sent again.",
        ),
    ),
)  # fmt: skip
SMS = collection(
    _AREA, "/v2/manage/sms-templates", SmsTemplate, kind="sms_templates", noun="text message template",
    about="Templates replace the built-in texts of text messages.", scope="template",
    also=("/v2/manage/smstemplates",), backing=InOwnStore(), content=SmsContent, ids=("type", "known_as"),
    file_key="sms_templates", most=100, exists=e.SmsTemplateExists, unknown=e.UnknownSmsTemplate, is_paged=False,
    audit="template", audit_names=("kind", "name"),
    verbs=(
        VerbOptions(LIST, "list_sms", "", e.UnknownSmsTemplate),
        VerbOptions(
            READ, "read_sms", "List text message templates of a type", e.UnknownSmsTemplate, (e.UnknownSmsType,),
            description="Returns the tenant’s text message templates of one type.",
        ),
        VerbOptions(CREATE, "add_sms", errors=(e.UnknownSmsTemplate, e.UnknownSmsType)),
        VerbOptions(
            UPDATE, "change_sms", errors=(e.UnknownSmsType,),
            description="Replaces the text message template that `Name` names.",
        ),
        VerbOptions(
            DELETE, "remove_sms", errors=(e.UnknownSmsType,),
            description="Deletes a text message template. The built-in text is sent again.",
        ),
    ),
)  # fmt: skip
