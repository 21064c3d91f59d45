"""A contradictory declaration of a resource is refused with a sentence that names the necessary change."""

from __future__ import annotations

from typing import Annotated, Any

import pytest
from pydantic import Field

from app.contract.resources import Verbs, bound, resource, singleton
from app.kit.operations.errors import ApiError
from app.kit.operations.operation import Catalogue
from app.kit.operations.wire import Wire
from app.kit.resources.resource import (
    CREATE,
    DELETE,
    ENCRYPTED,
    FIXED,
    LIST,
    ONCE,
    READ,
    READ_ONLY,
    REPLACE,
    SECRET,
    UPDATE,
    VERSION,
    InOwnStore,
    InSettings,
    InTable,
    Key,
    ResourceAction,
    ResourceError,
    SettingsKey,
    StoredAs,
)


class SampleRefused(ApiError):
    code, status, message = 9600, 400, "SampleRefused"


class Plain(Wire):
    item_id: Annotated[str, Key("itemId", is_minted=True)]
    name: str
    token: Annotated[str | None, SECRET] = None


class Named(Wire):
    name: Annotated[str, Key("name")]


class Keyless(Wire):
    name: str


class Unreachable(Wire):
    item_id: Annotated[str, Key(is_minted=True)]


class TwoRoles(Wire):
    item_id: Annotated[str, Key("itemId")]
    name: Annotated[str, FIXED, READ_ONLY]


class FixedKey(Wire):
    item_id: Annotated[str, Key("itemId"), FIXED]


class SecretNumber(Wire):
    item_id: Annotated[str, Key("itemId")]
    pin: Annotated[int, ONCE] = 0


class EncryptedHeaders(Wire):
    item_id: Annotated[str, Key("itemId")]
    headers: Annotated[dict[str, str], ENCRYPTED] = Field(default_factory=dict)


class HeadersWithin(Wire):
    headers: Annotated[str, ENCRYPTED] = ""


class EncryptedWithin(Wire):
    item_id: Annotated[str, Key("itemId")]
    inner: HeadersWithin


class OneKeyTwice(Wire):
    item_id: Annotated[str, Key("itemId")]
    first: str
    second: Annotated[str, StoredAs("first")]


class Deep(Wire):
    item_id: Annotated[str, Key("itemId")]
    first: Annotated[str, StoredAs("a.b")]


class OutsideSettings(Wire):
    item_id: Annotated[str, Key("itemId")]
    first: Annotated[str, SettingsKey("lockout.type")]


class Counted(Wire):
    item_id: Annotated[str, Key("itemId", is_minted=True)]
    version: Annotated[int | None, VERSION] = None
    token: Annotated[str | None, SECRET] = None


BOTH: dict[str, Any] = {"exists": SampleRefused, "unknown": SampleRefused}
ALL: Verbs = (LIST, CREATE, READ, UPDATE, DELETE)


@pytest.mark.parametrize(
    ("model", "verbs", "changes", "sentence"),
    [
        (Plain, (), BOTH, "declare at least one operation"),
        (Plain, (LIST, LIST), BOTH, "declare each verb once"),
        (Keyless, ALL, BOTH, "mark the field that is an item's id with Key"),
        (Unreachable, ALL, BOTH, "the Key of ItemId needs its parameter"),
        (TwoRoles, ALL, BOTH, "Name is FIXED and READ_ONLY; one of them"),
        (FixedKey, ALL, BOTH, "ItemId is part of the id, so it cannot be FIXED"),
        (SecretNumber, ALL, BOTH, "a secret is text; Pin is not"),
        (
            EncryptedHeaders,
            ALL,
            {**BOTH, "backing": InOwnStore()},
            "Headers is ENCRYPTED, which only the shared table stores",
        ),
        (EncryptedWithin, ALL, BOTH, "Inner.Headers is ENCRYPTED"),
        (OneKeyTwice, ALL, BOTH, "Second and First are kept under one key"),
        (Deep, ALL, BOTH, "First is kept at 'a.b': declare the model"),
        (OutsideSettings, ALL, BOTH, "First is no part of a singleton; take SettingsKey from it"),
        (Named, ALL, {"unknown": SampleRefused}, "declare the error `exists` of /v2/manage/x"),
        (Named, ALL, {"exists": SampleRefused}, "declare the error `unknown` of /v2/manage/x"),
        (Plain, (LIST, REPLACE), BOTH, "none may be minted"),
        (Plain, ALL, {**BOTH, "unset": SampleRefused}, "`unset` belongs to singletons"),
        (Plain, ALL, {**BOTH, "unique": ("nothing",)}, "`unique` names nothing"),
        (Plain, ALL, {**BOTH, "unique": ("token",)}, "`unique` names token, which is a secret"),
        (Plain, ALL, {**BOTH, "max_items": 0}, "`max_items` is at least 1"),
        (Plain, ALL, {**BOTH, "backing": InSettings()}, "needs its key there"),
        (Plain, ALL, {**BOTH, "backing": InSettings("custom_objects"), "file_key": "x"}, "without `file_key`"),
        (Counted, ALL, BOTH, "a VERSION and the error `outdated` belong together"),
        (Plain, ALL, {**BOTH, "outdated": SampleRefused}, "a VERSION and the error `outdated` belong together"),
        (
            Plain,
            ALL,
            {**BOTH, "backing": InTable(former_versions=5)},
            "former versions need a field that is the VERSION",
        ),
        (
            Counted,
            ALL,
            {**BOTH, "outdated": SampleRefused, "backing": InTable(former_versions=5)},
            "keep none of a resource that has some",
        ),
        (Plain, ALL, {**BOTH, "also": ("/v2/manage/{orgId}/x",)}, "look at orgId"),
        (
            Plain,
            ALL,
            {
                **BOTH,
                "actions": (
                    ResourceAction("rotate", "PUT /v2/manage/x/{itemId}/rotate", "Rotate.", renews=("token",)),
                ),
            },
            "the action rotate renews token, which is not marked ONCE",
        ),
    ],
)
def test_contradictory_declaration_is_refused(
    model: type[Wire], verbs: Verbs, changes: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(ResourceError) as refusal:
        bound(resource("x", "/v2/manage/x", model, verbs, noun="thing", kind="x", **changes), Catalogue())
    assert str(refusal.value).startswith("The resource x/x: ")
    assert sentence in str(refusal.value)


def test_valid_declaration_is_accepted() -> None:
    stored = resource(
        "x", "/v2/manage/x", Plain, ALL, noun="thing", kind="x", exists=SampleRefused, unknown=SampleRefused
    )
    assert len(bound(stored, Catalogue())) == 5


class Switch(Wire):
    is_on: bool = False


@pytest.mark.parametrize(
    ("verbs", "changes", "sentence"),
    [
        ((READ, LIST), {"backing": InSettings("risk")}, "a singleton has no LIST"),
        ((READ,), {}, "a singleton is kept in the settings"),
        ((READ,), {"backing": InSettings("risk"), "exists": SampleRefused}, "`exists` belongs to collections"),
        ((READ, UPDATE), {"backing": InSettings("risk")}, "the settings have no key risk.is_on for IsOn"),
    ],
)
def test_contradictory_singleton_is_refused(verbs: Verbs, changes: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ResourceError) as refusal:
        singleton("x", "/v2/manage/x", Switch, verbs=verbs, noun="thing", kind="x", **changes)
    assert sentence in str(refusal.value)
