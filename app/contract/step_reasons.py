"""Enumerations of the steps' reasons, states and results; some appear in page addresses."""

from enum import StrEnum


class LoginReason(StrEnum):
    """Why the visitor is asked to sign in, or to do so by another method. The page's address has it as `needs`."""

    METHOD = "method"  # an organization of the account requires one of the methods of `method_limit`
    PASSWORD = "password"  # one factor without a password does not suffice
    BROWSER = "browser"  # as PASSWORD, after another device approved the sign-in
    DENIED = "denied"  # at the provider, or the identity is not linked any more
    BROKEN = "broken"  # the provider does not respond
    UNVERIFIED_ANSWER = "refused"  # the provider responded, and its answer is not accepted
    UNUSABLE = "unusable"  # the connection is incomplete or turned off, or the provider refuses its client
    UNKNOWN_IDENTITY = "nobody"  # no account has the provider's identity, and it may not register
    NOT_REAUTHENTICATED = "silent"  # the provider did not reauthenticate the person, as required
    EMAIL_REFUSED = "address"  # the tenant refuses the email that the provider names
    FOREIGN_EMAIL = "domain"  # the organization of the connection has not verified the email that its provider names
    NOT_MEMBER = "member"  # the organization of the connection takes no new members by sign-in, or has no seat left
    CONNECTS = "connects"  # the identity is linked after a sign-in that proves the account with its address
    LINKING_OFF = "unlinked"  # an account has the verified address, and the tenant links no identities
    UPSTREAM = "organization"  # the organization requires its connection, to which `connection` leads
    WORKFLOW = "workflow"  # the workflow in force refused the sign-in; `denial` says why
    CLOSED = "closed"  # as WORKFLOW, before the sign-in: it refuses every account here


class Channel(StrEnum):
    """How a message is sent; DEVICE: by a mail that is opened on another device."""

    MAIL = "mail"
    SMS = "sms"
    DEVICE = "device"


class WaitingState(StrEnum):
    """The state of a page that waits for an emailed link; DENIED and OVER only for Channel.DEVICE."""

    WAITS = "waits"
    APPROVED = "approved"
    DENIED = "denied"
    OVER = "over"


class BackupCodesReason(StrEnum):
    """Why an account with a second factor has no saved backup codes. The page's address has it as `state`."""

    LAST_USED = "last"
    REPLACED = "replaced"  # newer ones exist than those of the page


class QrCodeState(StrEnum):
    """The state of a QR code."""

    WAITS = "waits"
    OPENED = "opened"  # on a phone
    APPROVED = "approved"
    DENIED = "denied"
    EXPIRED = "expired"


class ApprovalOutcome(StrEnum):
    """The result of a QR code that a phone opened. The page's address has it as `said`."""

    APPROVED = "approved"
    DENIED = "denied"
    USED = "used"
    EXPIRED = "expired"


class ProgramOutcome(StrEnum):
    """The answer to ApproveProgramStep. The page's address has it as `said`."""

    DONE = "done"
    NO = "no"


class DeviceOutcome(StrEnum):
    """The result of a device's request. The page's address has it as `state`."""

    ALLOWED = "allowed"
    DENIED = "denied"
    EXPIRED = "expired"


class RefusedPart(StrEnum):
    """The part of a request because of which it is refused."""

    CLIENT = "client"
    REDIRECT_URI = "redirect_uri"
    POST_LOGOUT_REDIRECT_URI = "post_logout_redirect_uri"
    REQUEST_URI = "request_uri"
    REQUEST = "request"
