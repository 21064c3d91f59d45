"""The published interface and configuration contain no internal notes."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from app.contract.catalogue import CATALOGUE, load_catalogue
from app.contract.published.chapters import GROUPS
from app.contract.published.field_texts import schema_texts
from app.contract.published.field_texts import texts as field_texts
from app.kit.openapi.publication import Publication
from tests.support.operations.published import published_interface

CHAPTERS = Publication(groups=GROUPS)
ROOT = Path(__file__).parents[3]
NOTES = {
    "a table's row": r"\brows? [A-Z]?\d|\b[AMU]\d\d\b",
    "a file of ours": r"\.md\b|\.py\b|\bdecisions?[/ ]\d",
    "our source": r"\bseed\b|\bthe issue\b|\bthe tables?\b|\bpublic page|\(chosen|\(public",
    "a section without its document": r"^section \d|\(section \d",
    "something elsewhere on the page": r"^(As|Like|See) above|^The same\b|\bbeside it\b|^State\b|^Those\b|^It works",
    "how it is written": r"lower camel|lower-case d|\bspelt as\b|^Names the\b",
    "what is to be done": r"\bnot built\b|\bTODO\b|\bFIXME\b|\bXXX\b|\blater issue\b|\bfor now\b",
    "us": r"\b(our|ours|we|us)\b",
}

OTHER_NAMES = {"true", "false", "claims", "PublicKeyCredential", "begin", "finish", "api_key", "api_secret"} | {
    "client_credentials",
    "apisecret",
    "HookId",
    "ping",
    "v1a",
    "whpk",
    "ETag",
    "ResourceTypes",
    "Schemas",
    "ascending",
    "descending",
}
"""Names of JSON, of SCIM, of an authorization request, of browsers, of paths, of grants, of deliveries and of the configuration file."""

DIRECTORY_NAMES = {
    "cn",
    "entryUUID",
    "ipaUniqueID",
    "mail",
    "member",
    "memberOf",
    "objectGUID",
    "sAMAccountName",
    "staff",
    "uid",
    "unicodePwd",
}
"""Attributes of directories, as LDAP has them, and a group of one."""


VALUES = frozenset(
    {
        "API",
        "ConsentToken",
        "DPoP",
        "Mobile",
        "No",
        "PINAuthToken",
        "Primary",
        "Register",
        "S256",
        "Secondary",
        "Yes",
        "addemail",
        "addphone",
        "android",
        "apple",
        "applejwt",
        "applert",
        "autologin",
        "cf_Shoe_size",
        "consent",
        "deleteuser",
        "emailverification",
        "facebook",
        "facebookjwt",
        "forgotpassword",
        "forgotpin",
        "form_post",
        "foursquare",
        "google",
        "googlejwt",
        "ios",
        "jkt",
        "kid",
        "linkedin",
        "login",
        "onetouchlogin",
        "passwordlesslogin",
        "phoneidverification",
        "platform",
        "popup",
        "preventverificationemail",
        "preventverificationsms",
        "qq",
        "select_account",
        "smartlogin",
        "twitter",
        "wechat",
    }
)
"""Values of fields that aren't enumerated in their schema, and members of `Data` and of keys."""


def _is_of_error(at: str) -> bool:
    """Return whether codes and messages are there, which clients of the interface match on."""
    return "/responses/" in at or re.search(r"/components/examples/\w+", at) is not None


def texts(found: Any, at: str = "") -> Iterator[tuple[str, str]]:
    """Yield the location and the text of each summary and description."""
    if isinstance(found, dict):
        for name, value in found.items():
            if name in ("summary", "description") and isinstance(value, str):
                if not _is_of_error(at):
                    yield f"{at}/{name}", value
            else:
                yield from texts(value, f"{at}/{name}")
    elif isinstance(found, list):
        for number, value in enumerate(found):
            yield from texts(value, f"{at}/{number}")


def error_texts() -> Iterator[tuple[str, str]]:
    for operation in CATALOGUE:
        if operation.documentation.is_public:
            yield from ((error.__name__, error.description) for error in operation.every_error)


@pytest.fixture(scope="module")
def read() -> set[tuple[str, str]]:
    """Every published text with its location."""
    return {*texts(published_interface()), *error_texts()}


@pytest.mark.parametrize(("what", "pattern"), NOTES.items(), ids=NOTES)
def test_published_texts_contain_no_internal_notes(read: set[tuple[str, str]], what: str, pattern: str) -> None:
    assert len(read) > 400
    assert sorted(found for found in read if re.search(pattern, found[1])) == [], what


def test_configuration_reference_names_no_source() -> None:
    for name in ("configuration.md", "configuration.schema.json"):
        lines = (ROOT / "docs" / name).read_text().splitlines()
        assert [line for line in lines if re.search(r"interface [\w-]+\.md|\brows? [AMU]\d\d", line)] == [], name


def test_names_in_descriptions_are_names_of_the_interface() -> None:
    text = json.dumps(published_interface())
    names = set(re.findall(r'"([A-Za-z_]\w*)"[:,\]}]', text)) | VALUES
    unknown = {
        (at, name)
        for at, text in texts(published_interface())
        for name in re.findall(r"`([A-Za-z_]\w*)`", text)
        if name not in names | OTHER_NAMES | DIRECTORY_NAMES
    }
    assert unknown == set()


PUBLIC = [operation for operation in load_catalogue() if operation.documentation.is_public]


def test_every_operation_has_a_unique_summary() -> None:
    summaries = dict[str, str]()
    for operation in PUBLIC:
        said = operation.documentation.summary
        assert re.fullmatch(r"[A-Z].{5,69}[^.]", said), (operation.name, said)
        assert summaries.setdefault(said, operation.name) == operation.name, said


@pytest.mark.parametrize(
    "lacks",
    [
        pytest.param(lambda item: not item.documentation.description, id="description"),
        pytest.param(lambda item: item.area == CHAPTERS.tag_of(item), id="chapter"),
    ],
)
def test_no_operation_is_without(lacks: Any) -> None:
    assert [operation.name for operation in PUBLIC if lacks(operation)] == []


def test_descriptions_are_sentences() -> None:
    said = {operation.name: operation.documentation.description for operation in PUBLIC}
    assert {name: text for name, text in said.items() if not re.match(r"[A-Z].+\.$", text, re.DOTALL)} == {}


def test_every_chapter_has_operations_and_a_description() -> None:
    made = published_interface()
    assert {item["name"] for item in made["tags"]} == {
        element for group in made["x-tagGroups"] for element in group["tags"]
    }
    assert [element["name"] for element in made["tags"] if len(element["description"]) < 20] == []
    assert {chapter.name for group in GROUPS for chapter in group.chapters} == {
        element["name"] for element in made["tags"]
    }


def test_every_field_and_parameter_has_a_description() -> None:
    assert sorted(undescribed(published_interface())) == []


def undescribed(found: Any, at: str = "") -> Iterator[str]:
    """Yield the location of each property and parameter without a description."""
    if isinstance(found, dict):
        properties = found.get("properties")
        for name, item in properties.items() if isinstance(properties, dict) else ():
            if "description" not in item:
                yield f"{at}.{name}"
        if "in" in found and "schema" in found and "description" not in found:
            yield f"{at}({found['name']})"
        for name, value in found.items():
            yield from undescribed(value, f"{at}/{name}")
    elif isinstance(found, list):
        for number, value in enumerate(found):
            yield from undescribed(value, f"{at}/{number}")


def test_every_schema_has_a_description() -> None:
    schemas = published_interface()["components"]["schemas"]
    said = {name: schema.get("description", "") for name, schema in schemas.items()}
    assert {name: text for name, text in said.items() if not re.match(r"[A-Z].+\.$", text, re.DOTALL)} == {}


def test_no_text_of_a_schema_is_stale() -> None:
    names = set(published_interface()["components"]["schemas"])
    assert set(schema_texts()) - names - {re.sub(r"^(New|Changed|Each|All)", "", name) for name in names} == set()


def test_every_error_has_a_sentence() -> None:
    named = published_interface()["components"]["examples"]
    assert len(named) > 300
    for name, error in named.items():
        assert re.match(r".{12,}[.]$", error["description"]), (name, error["description"])
        assert error["summary"], name
        assert error["value"], name


def test_texts_of_fields_belong_to_fields() -> None:
    text = json.dumps(published_interface())
    stale = {(schema, name) for schema, names in field_texts().items() for name in names if f'"{name}"' not in text}
    assert stale == set()
