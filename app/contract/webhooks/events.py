"""The events of accounts that webhooks receive, by their names in the interface."""

from __future__ import annotations

from typing import Final, Literal, get_args

EventName = Literal[
    "Login",
    "Register",
    "UpdateProfile",
    "ResetPassword",
    "ChangePassword",
    "EmailVerification",
    "AddEmail",
    "RemoveEmail",
    "BlockAccount",
    "DeleteAccount",
    "SetUsername",
    "CreateTraditionalAccount",
    "AssignRoles",
    "UnassignRoles",
    "SetPassword",
    "LinkAccount",
    "UnlinkAccount",
    "UpdatePhoneId",
    "VerifyPhoneNumber",
    "InvalidateEmailVerification",
    "RemoveRoleContext",
    "CreateCustomObject",
    "UpdateCustomObject",
    "DeleteCustomObject",
    "InvalidatePhoneVerification",
    "RemovePhoneId",
    "ConsentProfileUpdate",
    "SetPIN",
    "ResetPIN",
    "ChangePIN",
    "UpdateUid",
]
EVENTS: Final[tuple[EventName, ...]] = get_args(EventName)
"""Every event, in the order in which `GET /v2/manage/webhooks/events` lists them."""
EVERY_EVENT: Final = "*"
"""In the place of an event: all of them, for listeners (`targets.is_listener`)."""
_BY_FOLDED_NAME: Final[dict[str, EventName]] = {name.casefold(): name for name in EVENTS}


def event_named(name: str) -> EventName | None:
    """Return the event of this name in any letter case, or None."""
    return _BY_FOLDED_NAME.get(name.casefold())
