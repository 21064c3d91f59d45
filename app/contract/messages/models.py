"""Messages by email and SMS: their kinds, under the interface's names of template types, sending
limits, and a tenant's own templates. The configuration file and the store share these models."""

from enum import StrEnum
from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from app.contract.configuration_model import ConfigurationModel, Different

Carries = Literal["link", "otp", "both"]


class MailKind(StrEnum):
    """The kind of an email. Those with an underscore have no type in the interface, but can have templates too."""

    VERIFICATION = "registration"
    WELCOME = "welcome"
    RESET = "forgotpassword"
    PASSWORD_CHANGED = "resetpassword"
    ALARM = "password_alarm"
    DELETE_ACCOUNT = "deleteaccount"
    ADD_EMAIL = "add_email"
    EMAIL_CHANGED = "email_changed"
    USERNAME_CHANGED = "username_changed"
    PHONE_CHANGED = "phone_changed"
    ANSWERS_CHANGED = "security_answers_changed"
    FACTOR_ADDED = "second_factor_added"
    FACTOR_REMOVED = "second_factor_removed"
    NEW_DEVICE = "suspicious_device_email_to_user"
    NEW_BROWSER = "suspicious_browser_email_to_user"
    NEW_CITY = "suspicious_city_email_to_user"
    NEW_COUNTRY = "suspicious_country_email_to_user"
    NEW_IP = "suspicious_ip_email_to_user"
    PASSKEY_ADDED = "add_passkey"
    PASSKEY_REMOVED = "delete_passkey"
    PASSKEY_LOST = "forget_passkey"
    IDENTITY_LINKED = "identity_linked"
    IDENTITY_UNLINKED = "identity_unlinked"
    RESET_PIN = "forgotpin"
    PIN_CHANGED = "pin_changed"
    ACCOUNT_LEAVES = "account_leaves"
    ACCOUNT_EXISTS = "account_exists"
    SECOND_FACTOR = "secondfactorauthentication"
    SIGN_IN = "oneclicksignin"
    SMART_LOGIN = "autologin"
    ONE_TOUCH = "noregistrationpasswordlesslogin"
    NO_ACCOUNT = "no_account"
    INVITATION = "invite_user_to_organization"
    OWNER_ADDED = "organization_owner_added"
    OWNERSHIP_CHANGED = "organization_ownership_changed"
    JOIN_REQUESTED = "organization_join_requested"
    JOIN_APPROVED = "organization_join_approved"
    JOIN_DECLINED = "organization_join_declined"
    ORGANIZATION_DOMAIN = "organization_domain"
    WEBHOOK_DISABLED = "webhook_disabled"
    THEME_FAILED = "theme_failed"
    CAPTCHA = "captcha"


class SmsKind(StrEnum):
    """The kind of a text message."""

    VERIFICATION = "verification"
    RESET = "forgotpassword"
    RESET_PIN = "forgotpin"
    WELCOME = "welcome"
    CHANGE_PHONE = "changephoneno"
    DELETE_ACCOUNT = "deleteuser"
    PHONE_CHANGED = "phone_changed"
    ACCOUNT_EXISTS = "account_exists"
    SECOND_FACTOR = "secondfactorauthentication"
    SIGN_IN = "onetimepasscode"
    ONE_TOUCH = "noregistrationpasswordlesslogin"
    NEW_DEVICE = "suspicious_device_sms_to_user"
    NEW_BROWSER = "suspicious_browser_sms_to_user"
    NEW_CITY = "suspicious_city_sms_to_user"
    NEW_COUNTRY = "suspicious_country_sms_to_user"
    NEW_IP = "suspicious_ip_sms_to_user"


NEW_PLACE_TEXTS = (SmsKind.NEW_DEVICE, SmsKind.NEW_BROWSER, SmsKind.NEW_CITY, SmsKind.NEW_COUNTRY, SmsKind.NEW_IP)


def _one_line(text: str) -> str:
    if any(ord(letter) < 32 or letter in "\x7f\u2028\u2029" for letter in text):
        raise ValueError("one line without control characters")
    return text


Line = Annotated[str, AfterValidator(_one_line)]
SenderDomain = Annotated[str, Field(pattern=r"^[a-z0-9-]+(\.[a-z0-9-]+)+$", max_length=253)]
SenderAddress = Annotated[
    str, Field(pattern=r"^[A-Za-z0-9_+-]+(\.[A-Za-z0-9_+-]+)*@[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)+$", max_length=254)
]
_NAME = r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,99}$"


class SendLimit(ConfigurationModel):
    """`amount` messages to one recipient in so many minutes; 0: not limited."""

    amount: int = Field(ge=0, le=10_000)
    minutes: int = Field(ge=1, le=43_200)


class Sending(ConfigurationModel):
    """The sender of messages, and how many one recipient gets."""

    sender_name: Line = Field(default="", max_length=60)  # the display name where empty
    from_domains: Annotated[tuple[SenderDomain, ...], Different] = Field(
        default=(),
        max_length=20,
        description="Domains that emails may come from: a template's `from_email` has one of them. List a domain after its DNS records "
        "(SPF, DKIM, DMARC) allow your mail server to send for it.",
    )
    reply_to: Annotated[str, Field(pattern=r"^[!-?A-~]+@[A-Za-z0-9.-]+$", max_length=254)] | None = None
    mails: SendLimit = SendLimit(amount=5, minutes=60)
    sms: SendLimit = SendLimit(amount=5, minutes=60)
    mails_in_all: SendLimit = Field(
        default=SendLimit(amount=30, minutes=1440),
        description="Limit of all emails together to one account or address. Security alerts to a verified address are always sent.",
    )
    mails_by_type: dict[MailKind, SendLimit] = Field(default={MailKind.RESET: SendLimit(amount=3, minutes=1440)})
    sms_by_type: dict[SmsKind, SendLimit] = Field(default_factory=dict)
    sms_per_address: SendLimit = SendLimit(amount=20, minutes=60)  # to all numbers, asked for from one network
    sms_per_day: int = Field(default=1_000, ge=0, le=1_000_000)  # of the whole tenant; 0: not limited

    def may_come_from(self, address: str) -> bool:
        """Return whether the operator listed the address's domain."""
        return address.rpartition("@")[2].lower() in self.from_domains


class MailTemplate(ConfigurationModel):
    """A tenant's own mail. Its placeholders are those of the interface, such as `#Name#`, `#Url#` and `#OTP#`."""

    type: MailKind
    name: Annotated[str, Field(pattern=_NAME)] | None = Field(
        default=None,
        description="The name in `emailtemplate`. Default: `TYPE-default`, the default template. A suffix such as `-de` makes it "
        "the German one.",
    )
    subject: Line = Field(min_length=1, max_length=300)
    html: str = Field(
        min_length=1,
        max_length=100_000,
        description="A whole document, which is sent as it is, or paragraphs, which get the layout and the colors of the built-in emails.",
    )
    text: str | None = Field(default=None, max_length=100_000, description="The plain text. Default: made from `html`.")
    carries: Carries | None = Field(
        default=None,
        description="What the email contains: a link, a code or both. Default: by its placeholders.",
    )
    sender_name: Line = Field(
        default="", max_length=60, description="The sender's name. Default: that of `settings.sending`."
    )
    from_email: SenderAddress | None = Field(
        default=None,
        description="The sender's address, at a domain of `settings.sending.from_domains`. Default: that of the installation.",
    )
    is_active: bool = Field(default=True, description="An inactive template is ignored.")

    @property
    def known_as(self) -> str:
        """The name that requests use."""
        return self.name or f"{self.type}-default"


class TextMessageTemplate(ConfigurationModel):
    """A tenant's own text message. The line that lets browsers fill the code in is added by itself."""

    type: SmsKind
    name: Annotated[str, Field(pattern=_NAME)] | None = Field(
        default=None, description="The name in `smstemplate`, as in `mail_templates`."
    )
    text: str = Field(min_length=1, max_length=1_000)

    @property
    def known_as(self) -> str:
        """The name that requests use."""
        return self.name or f"{self.type}-default"
