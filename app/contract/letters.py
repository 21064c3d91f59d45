"""What is said to people by mail and SMS: the kinds, under the interface's names of template types (tenant-config.md section 7)."""

from enum import StrEnum


class MailKind(StrEnum):
    """Why a mail is sent. The last three have no type in the interface; a tenant may state templates for them all the same."""

    VERIFICATION = "registration"
    WELCOME = "welcome"
    RESET = "forgotpassword"
    PASSWORD_CHANGED = "resetpassword"
    DELETE_ACCOUNT = "deleteaccount"
    ADD_EMAIL = "add_email"
    EMAIL_CHANGED = "email_changed"
    USERNAME_CHANGED = "username_changed"
    ACCOUNT_EXISTS = "account_exists"


class SmsKind(StrEnum):
    """Why a text message is sent."""

    VERIFICATION = "verification"
    RESET = "forgotpassword"
    WELCOME = "welcome"
    CHANGE_PHONE = "changephoneno"
    DELETE_ACCOUNT = "deleteuser"
