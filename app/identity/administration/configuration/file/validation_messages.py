"""Turns pydantic's errors into messages that name the expected value; never shows the values of secret keys."""

from __future__ import annotations

from functools import cache
from typing import Any, get_args

from pydantic import BaseModel

from app.contract.accounts.file import MAX_USERNAME_LENGTH
from app.contract.resources import file_resources
from app.contract.tenants.file import configuration_file
from app.identity.administration.configuration.file.yaml_document import KeyPath
from app.kit.near_names import near_name
from app.kit.operations.wire import is_union_tag

_SECRET = frozenset(
    {
        "password",
        "password_hash",
        "totp_secret",
        "client_secret",
        "api_secret",
        "captcha_secret",
        "access_key_id",
        "secret_access_key",
    }
    | {"service_json", "apns_certificate", "apple_certificate", "consumer_secret", "secrets", "token_sha256"}
)
USERNAME = f"1 to {MAX_USERNAME_LENGTH} visible characters without @"
_PATTERNS = {
    "name": "letters, digits and hyphens (in lower case for a tenant; an application starts with a letter)",
    "color": "a color such as #3b49d9",
    "background": "a color such as #fbfaf7",
    "background_dark": "a color such as #12100e",
    "api_key": "a GUID",
    "api_secret": "a GUID",
    "client_id": "1 to 128 printable ASCII characters without spaces",
    "token_sha256": "the SHA-256 of a token in hexadecimal, which 'sha256sum' prints",
    "username": USERNAME,
    "phone": "an E.164 number such as +4930123456, in quotes",
}
COLORS = ("color", "background", "background_dark")
UNQUOTED_COLOR = "put it in quotes: # begins a comment in YAML"
_KINDS = {
    "bool_type": "true or false",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "tuple_type": "a list",
    "dict_type": "keys with values",
    "model_type": "keys with values",
    "model_attributes_type": "keys with values",
    "json_type": "a map with the key tenants",
}
_BOUNDS = {
    "greater_than_equal": "at least {ge}",
    "less_than_equal": "at most {le}",
    "string_too_short": "at least {min_length} characters",
    "string_too_long": "at most {max_length} characters",
    "too_long": "at most {max_length} entries",
    "too_short": "at least {min_length} entries",
}


def sentence_of(error: dict[str, Any]) -> tuple[KeyPath, str]:
    """Return the path and the sentence of a pydantic error."""
    path: KeyPath = tuple(part for part in error["loc"] if not is_union_tag(part))
    kind, context = str(error["type"]), error.get("ctx", {})
    key = str(next((part for part in reversed(path) if isinstance(part, str)), ""))
    if path and path[-1] == "[key]":  # of a map whose keys are the tenant's own
        path, key = path[:-1], str(path[-2])
    if kind == "extra_forbidden":
        return path, _unknown(key)
    if kind == "missing":
        return path, "is missing"
    if kind == "value_error":
        return _own(path, str(context["error"]), error)
    return path, f"expected {_expected(kind, context, key, error)}{_found(key, error['input'])}"


def _expected(kind: str, context: dict[str, Any], key: str, error: dict[str, Any]) -> str:
    if kind in _BOUNDS:
        return _BOUNDS[kind].format(**context)
    if kind == "literal_error":
        return "one of " + str(context["expected"]).replace("'", "").replace(" or ", ", ")
    if "colors" in error["loc"] and kind in ("string_type", "string_pattern_mismatch"):  # by the names of the tokens
        key = "color"
    if kind == "string_type" and error["input"] is None and key in COLORS:
        return f"{_PATTERNS[key]} ({UNQUOTED_COLOR})"
    if kind == "string_type":
        return "text" + (" (put it in quotes)" if isinstance(error["input"], int | float) else "")
    if kind == "string_pattern_mismatch":
        return _PATTERNS.get(key, f"text like {context.get('pattern')}")
    return _KINDS.get(kind, str(error["msg"]))


def _own(path: KeyPath, sentence: str, error: dict[str, Any]) -> tuple[KeyPath, str]:
    """Return the path and sentence of our own rule: about this value, or about a key in `key: expectation`."""
    if isinstance(error["input"], dict):
        keys, _, sentence = sentence.partition(": ")
        return (*path, *keys.split(".")), f"expected {sentence}"
    key = str(next((part for part in reversed(path) if isinstance(part, str)), ""))
    return path, f"expected {sentence}{_found(key, error['input'])}"


def _unknown(key: str) -> str:
    if key in known_keys():
        return "isn't a known key here"
    near = near_name(key, known_keys())
    return "isn't a known key" + (f"; did you mean {near}?" if near else "")


def _found(key: str, value: Any) -> str:
    if key in _SECRET or key in _secrets_of_resources():
        return ""
    if value is None:
        return "; found nothing"
    if isinstance(value, bool):
        return f"; found {str(value).lower()}"
    if isinstance(value, int | float):
        return f"; found {value}"
    if isinstance(value, str):
        return f"; found {value[:80]!r}"
    return "; found a list" if isinstance(value, list | tuple) else "; found keys with values"


@cache
def _secrets_of_resources() -> frozenset[str]:
    return frozenset(
        member.fields[-1] for resource in file_resources() for member in resource.members if member.is_secret
    )


@cache
def known_keys() -> tuple[str, ...]:
    """Return every key of the format."""
    keys: set[str] = set()

    def walk(model: type[BaseModel]) -> None:
        for name, field in model.model_fields.items():
            keys.add(name)
            inner = [field.annotation, *get_args(field.annotation)]
            inner += [part for item in inner for part in get_args(item)]
            for arg in inner:
                if isinstance(arg, type) and issubclass(arg, BaseModel):
                    walk(arg)

    walk(configuration_file(file_resources()))
    return tuple(sorted(keys))
