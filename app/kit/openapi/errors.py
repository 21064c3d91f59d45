"""Errors in the OpenAPI document: each is one named example, to which the responses that may contain it refer."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from app.kit.operations.errors import ApiError, OAuthError, ScimError, error_body
from app.kit.operations.operation import AnyOperation

_SCHEMAS = "#/components/schemas/{model}"
_EXAMPLES = "#/components/examples/{name}"
_WORDS = {
    "ApiError": "An error. Branch on `ErrorCode`: it never changes, but the texts can.",
    "CamelError": "An error with members in camel case. Branch on `errorCode`: it never changes, but the texts can.",
    "OAuthError": "An OAuth error (RFC 6749, section 5.2). Branch on `error`; `error_description` is for developers.",
    "ScimError": "A SCIM error (RFC 7644, section 3.12). Branch on `status` and `scimType`; `detail` is for developers.",
}
_MEANINGS = {
    400: "The request is malformed or can't be processed.",
    401: "The credentials were refused.",
    403: "The request was refused.",
    404: "Not found.",
    405: "The method isn't supported here.",
    409: "The request conflicts with what exists.",
    429: "Too many requests. Wait for the number of seconds in `Retry-After`, then try again.",
    500: "Something failed on the server. Try again later.",
}


def error_schemas() -> dict[str, Any]:
    """Return the schemas of error responses."""
    properties: dict[str, dict[str, Any]] = {
        "ApiError": _api(), "CamelError": _camel(), "OAuthError": _oauth(), "ScimError": _scim(),
    }  # fmt: skip
    required = {
        "ApiError": ["ErrorCode", "Message", "Description"],
        "CamelError": ["errorCode", "message", "description"],
        "OAuthError": ["error"],
        "ScimError": ["schemas", "status", "detail"],
    }
    return {
        name: {"type": "object", "description": words, "properties": properties[name], "required": required[name]}
        for name, words in _WORDS.items()
    }


def error_examples(operations: Iterable[AnyOperation]) -> dict[str, Any]:
    """Return an Example Object for each error that an operation answers, by name."""
    kinds = {_plain(error) for operation in operations for error in operation.every_error}
    named = {_name_of(kind): kind for kind in sorted(kinds, key=_order)}
    return {
        name: {"summary": _title(kind), "description": _meaning(kind), "value": error_body(kind())}
        for name, kind in named.items()
    }


def error_responses(operations: Sequence[AnyOperation]) -> dict[str, Any]:
    """Return a Response Object for each status of the operations' errors."""
    by_status: dict[int, list[type[ApiError]]] = {}
    for error in dict.fromkeys(error for operation in operations for error in operation.every_error):
        by_status.setdefault(error.status, []).append(error)
    return {str(status): _response(status, errors) for status, errors in sorted(by_status.items())}


def _response(status: int, errors: Sequence[type[ApiError]]) -> dict[str, Any]:
    """Return the response; the operation's own errors come first, as declared."""
    refs = [{"$ref": _SCHEMAS.format(model=name)} for name in dict.fromkeys(map(_schema_of, errors))]
    titles = dict.fromkeys(f"- `{error.code}` {_short(error)}" for error in errors)
    words = f"{_MEANINGS.get(status, 'The request failed.')}\n\n" + "\n".join(titles)
    examples = {name: {"$ref": _EXAMPLES.format(name=name)} for name in dict.fromkeys(map(_name_of, errors))}
    schema = refs[0] if len(refs) == 1 else {"anyOf": refs}
    content = {
        kind: {"schema": schema, "examples": examples} for kind in dict.fromkeys(error.media_type for error in errors)
    }
    return {"description": words, "content": content}


def _plain(error: type[ApiError]) -> type[ApiError]:
    return error.original or error


def _name_of(error: type[ApiError]) -> str:
    return _plain(error).__name__


def _order(error: type[ApiError]) -> tuple[str, str]:
    return str(error.code).rjust(40), error.__name__


def _title(error: type[ApiError]) -> str:
    return f"{error.code} {_short(error)}"


def _short(error: type[ApiError]) -> str:
    """Return the sentence by which an error is known; all OAuth errors have one message, which is not sent."""
    return (error.description if issubclass(error, OAuthError | ScimError) else error.message).rstrip(".")


def _meaning(error: type[ApiError]) -> str:
    return " ".join(filter(None, (error.description, error.remedy)))


def _schema_of(error: type[ApiError]) -> str:
    if issubclass(error, OAuthError):
        return "OAuthError"
    if issubclass(error, ScimError):
        return "ScimError"
    return "CamelError" if error.camel else "ApiError"


def _text(words: str, **more: Any) -> dict[str, Any]:
    return {"type": "string", "description": words, **more}


def _api() -> dict[str, Any]:
    problem = {
        "type": "object",
        "properties": {
            "FieldName": _text("The field, as the request spells it."),
            "ErrorMessage": _text("What is wrong with its value."),
        },
    }
    return {
        "ErrorCode": {"type": "integer", "description": "The error's number."},
        "Message": _text("The error's name in a few words."),
        "Description": _text("When the error occurs and what to do, for developers."),
        "IsProviderError": {
            "type": "boolean",
            "description": "Whether another provider caused the error, for example a social sign-in provider.",
        },
        "ProviderErrorResponse": {
            "type": ["string", "null"],
            "description": "What the other provider answered; null if none was involved.",
        },
        "Errors": {"type": "array", "items": problem, "description": "One entry for each field that was refused."},
        "Data": {
            "type": "object",
            "description": "What the next step needs, for example a token or the seconds until a lock ends.",
        },
    }


def _camel() -> dict[str, Any]:
    return {
        "errorCode": {"type": "integer", "description": "The error's number."},
        "message": _text("The error's name in a few words."),
        "description": _text("When the error occurs and what to do, for developers."),
    }


def _oauth() -> dict[str, Any]:
    return {
        "error": _text("The error's name."),
        "error_description": _text("What is wrong, for developers."),
    }


def _scim() -> dict[str, Any]:
    return {
        "schemas": {"type": "array", "items": {"type": "string"}, "description": "The URN of SCIM’s error message."},
        "status": _text("The HTTP status."),
        "scimType": _text("The error’s name, where SCIM has one for it."),
        "detail": _text("What is wrong, for developers."),
    }
