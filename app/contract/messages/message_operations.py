"""Management programs read and write the tenant's own mails and text messages."""

from typing import Annotated, Literal

from pydantic import Field

from app.contract import errors
from app.contract.messages.models import MailTemplate
from app.contract.messages.models import TextMessageTemplate as SmsContent
from app.contract.resources import collection
from app.kit.operations.errors import ApiError
from app.kit.operations.wire import Wire
from app.kit.resources.resource import (
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

Refusal = type[ApiError]
Type = Annotated[str, Field(max_length=60), Key("templateType"), StoredAs("type")]


class EmailTemplate(Wire):
    """A template that replaces the built-in text of an email. `VerificationTokenType` says whether it contains a link or a code;
    it's null for both or neither."""

    template_type: Type
    template_name: Annotated[str | None, Field(max_length=100), Key(), StoredAs("name"), ResponseType(str)] = None
    subject: Annotated[str, Field(max_length=300)]
    template: Annotated[str, Field(max_length=100_000), StoredAs("html")]
    text_template: Annotated[str | None, Field(max_length=100_000), StoredAs("text")] = None
    from_name: Annotated[str | None, Field(max_length=60), StoredAs("sender_name")] = None
    from_email: Annotated[str | None, Field(max_length=254), ResponseType(str)] = None
    verification_token_type: Annotated[Literal["Otp", "link"] | None, StoredAs("carries")] = None
    is_active: bool = True


class SmsTemplate(Wire):
    sms_template_type: Type
    name: Annotated[str, Field(max_length=100), Key()]
    template: Annotated[str, Field(max_length=1_000), StoredAs("text")]


_AREA = "message_templates"


def _verbs(
    several: str,
    item: str,
    *,
    noun: str,
    key: str,
    article: str,
    empty: Refusal,
    unknown: Refusal,
    unknown_type: Refusal,
) -> tuple[VerbOptions, ...]:
    """Return the operations on templates of one kind, which are read by type and changed by type and name."""
    return (
        VerbOptions(LIST, f"list_{several}", "", empty),
        VerbOptions(
            READ, f"read_{several}", f"List {noun}s of a type", unknown, (unknown_type,),
            description=f"Returns the tenant’s {noun}s of one type.",
        ),
        VerbOptions(CREATE, f"add_{item}", errors=(empty, unknown_type)),
        VerbOptions(
            UPDATE, f"change_{item}", errors=(unknown_type,), description=f"Replaces the {noun} that `{key}` names.",
        ),
        VerbOptions(
            DELETE, f"remove_{item}", errors=(unknown_type,),
            description=f"Deletes {article} {noun}. The built-in text is sent again.",
        ),
    )  # fmt: skip


MAILS = collection(
    _AREA, "/v2/manage/email-templates", EmailTemplate, kind="mail_templates", noun="email template",
    about="Templates replace the built-in texts of emails.", scope="template",
    backing=InOwnStore(), content=MailTemplate, ids=("type", "known_as"), file_key="mail_templates", max_items=200,
    exists=errors.MailTemplateExists, unknown=errors.UnknownMailTemplate, takes_markup=True, is_paged=False,
    audit="template", audit_names=("kind", "name"),
    verbs=_verbs(
        "mails", "mail", noun="email template", key="TemplateName", article="an",
        empty=errors.MailTemplateNotConfigured, unknown=errors.UnknownMailTemplate, unknown_type=errors.UnknownMailType,
    ),
)  # fmt: skip
SMS = collection(
    _AREA, "/v2/manage/sms-templates", SmsTemplate, kind="sms_templates", noun="text message template",
    about="Templates replace the built-in texts of text messages.", scope="template",
    also=("/v2/manage/smstemplates",), backing=InOwnStore(), content=SmsContent, ids=("type", "known_as"),
    file_key="sms_templates", max_items=100, exists=errors.SmsTemplateExists, unknown=errors.UnknownSmsTemplate, is_paged=False,
    audit="template", audit_names=("kind", "name"),
    verbs=_verbs(
        "sms", "sms", noun="text message template", key="Name", article="a",
        empty=errors.UnknownSmsTemplate, unknown=errors.UnknownSmsTemplate, unknown_type=errors.UnknownSmsType,
    ),
)  # fmt: skip
