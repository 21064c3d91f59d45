"""Errors of the API.

    ApiError            code, status and sentence, declared once as a class
    ├─ OAuthError       `error` / `error_description` instead of a number (RFC 6749 section 5.2)
    └─ ScimError        `status`, `scimType` and `detail` (RFC 7644 section 3.12)

An error is raised by a service, mapped once by `server.py`, and raised again as the same class by `client.py`.
The status is an attribute of the class; codes repeat across operations with different statuses, so an operation
that answers a code at another status declares `TheError.at(400)` in its `errors` (decision 0001).
"""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, ClassVar, Final, Self

SCIM_ERROR: Final = "urn:ietf:params:scim:api:messages:2.0:Error"
NO_CODE: Final = 0  # no operation at the address: not a part of the interface, so no error code


class ApiError(Exception):
    """A refusal with a code.

    Args:
        description: replaces the class's own description, for example to name a parameter.
        data: the `Data` member (`Data:{LoginLockedTimeout}` and the like).
        problems: field problems as `(field, sentence)`, the `Errors` member.
        retry_after_seconds: sent as `Retry-After`.
        commit_on_raise: the unit of work commits what was written before this error, which ends a step and not the interaction.
        provider_response: what another provider answered, the `ProviderErrorResponse` member.
    """

    code: ClassVar[int | str] = 950
    status: ClassVar[int] = 500
    message: ClassVar[str] = "Operation failed due to an unknown error"
    description: str = "An unexpected failure. Try again later."
    remedy: ClassVar[str] = ""  # published after the description, which is sent: what else a caller should know
    is_provider_error: ClassVar[bool] = False  # the cause is the response of another provider
    media_type: ClassVar[str] = "application/json"
    headers: ClassVar[Mapping[str, str]] = {}
    camel: ClassVar[bool] = False  # the interface spells a few bodies errorCode, message, description
    original: ClassVar[type["ApiError"] | None] = None  # the class of which this is an `.at()`

    def __init__(
        self,
        description: str | None = None,
        *,
        data: Mapping[str, Any] | None = None,
        problems: Sequence[tuple[str, str]] = (),
        retry_after_seconds: int | None = None,
        commit_on_raise: bool = False,
        provider_response: str | None = None,
    ) -> None:
        super().__init__(description or self.description)
        self.description = description or type(self).description
        self.data = dict(data) if data else None
        self.problems = tuple(problems)
        self.retry_after_seconds = retry_after_seconds
        self.commit_on_raise = commit_on_raise
        self.provider_response = provider_response

    @classmethod
    def at(cls, status: int) -> type[Self]:
        """Return this error with another status, for the `errors` of an operation."""
        plain: Any = cls
        kind: type[Self] = _with_status(plain, status)
        return kind

    @classmethod
    def names(cls, parameter: str) -> Self:
        """Return the refusal of a missing parameter, in the interface's wording."""
        return cls(f"The {parameter} is a required parameter.")


@cache
def _with_status(cls: Any, status: int) -> Any:
    return type(cls.__name__, (cls,), {"status": status, "original": cls, "__module__": cls.__module__})


class OAuthError(ApiError):
    """An OAuth refusal: `code` is the `error` value, the description goes into `error_description`."""

    code: ClassVar[int | str] = "server_error"


class ScimError(ApiError):
    """A SCIM refusal: `code` is the `scimType`, or the name of the status where RFC 7644 has no type for it."""

    media_type: ClassVar[str] = "application/scim+json"
    has_scim_type: ClassVar[bool] = False


def declared_as(error: ApiError, declared: Sequence[type[ApiError]]) -> type[ApiError] | None:
    """Return the class under which an operation declares this error, or None.

    An exact or inherited class wins; a plain class matches an `.at()` of it that the operation declares.
    """
    for kind in declared:
        if isinstance(error, kind) or (kind.original is not None and isinstance(error, kind.original)):
            return kind
    return None


def error_body(error: ApiError) -> dict[str, Any]:
    """Return the interface's error body, OAuth's (RFC 6749 section 5.2) or SCIM's (RFC 7644 section 3.12)."""
    if isinstance(error, OAuthError):
        return {"error": error.code, "error_description": error.description}
    if isinstance(error, ScimError):
        kind = {"scimType": error.code} if error.has_scim_type else {}
        return {"schemas": [SCIM_ERROR], "status": str(error.status), **kind, "detail": error.description}
    if error.camel:
        return {"errorCode": error.code, "message": error.message, "description": error.description}
    body: dict[str, Any] = {
        **({"ErrorCode": error.code} if error.code != NO_CODE else {}),
        "Message": error.message,
        "Description": error.description,
        "IsProviderError": error.is_provider_error,
        "ProviderErrorResponse": error.provider_response,
    }
    if error.problems:
        body["Errors"] = [{"FieldName": name, "ErrorMessage": sentence} for name, sentence in error.problems]
    if error.data is not None:
        body["Data"] = error.data
    return body
