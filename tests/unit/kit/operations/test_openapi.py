"""The published document: every public operation, every reference leads somewhere, and standard readers take it."""

import json
import re
from functools import cache
from typing import Annotated, Any

import jsonschema_rs
import schemathesis
from pydantic import Field

from app.contract.auth import ACCESS_TOKEN, API_KEY, API_SECRET, Host
from app.contract.catalogue import load_catalogue
from app.kit.openapi.document import document
from app.kit.openapi.publication import Chapter, ChapterGroup, Publication
from app.kit.operations.auth import OPEN, Admission, Auth
from app.kit.operations.errors import ApiError
from app.kit.operations.operation import Catalogue, Documentation, ErrorProfile, Operation
from app.kit.operations.wire import From, Wire


@cache
def full_document() -> dict[str, Any]:
    """Return the document of every operation, which takes a second to make."""
    return document(load_catalogue(), "https://api.example.com")


class Wrong(ApiError):
    code, status, message = 7, 400, "Wrong"


class Gone(ApiError):
    code, status, message = 8, 404, "Gone"


FAMILY = ErrorProfile("test", Wrong, Wrong, Wrong, Wrong, Wrong)


THERE = "https://{tenant}.example.com"


class ById(Wire):
    uid: Annotated[str, From.PATH]
    fields: Annotated[str | None, From.QUERY] = None


class ChangeRequest(ById):
    first_name: str = Field(max_length=50)
    nick_name: str | None = None


class ByEmail(Wire):
    email: Annotated[str, From.QUERY]


class Thing(Wire):
    uid: str


def declared(
    name: str, address: str, request: type[Wire], auth: Auth, *, on: Host = Host.API, **more: Any
) -> Operation[Any, Any]:
    method, path = address.split()
    documentation = Documentation(f"{name}.")
    return Operation(
        name,
        method,
        path,
        request,
        Thing,
        on,
        FAMILY,
        admission=Admission(auth),
        documentation=documentation,
        **more,
    )


def described(*operations: Operation[Any, Any]) -> Any:
    return json.loads(
        json.dumps(document(Catalogue(operations), "https://api.example.com", {Host.TENANT: {"url": THERE}}))
    )


READ = declared("things.read", "GET /things/{uid}", ById, API_KEY & API_SECRET, also=("/older/{uid}",), errors=(Gone,))
CHANGE = declared("things.change", "PUT /things/{uid}", ChangeRequest, ACCESS_TOKEN)


def test_fields_are_documented_where_they_travel() -> None:
    entry = described(CHANGE)["paths"]["/things/{uid}"]["put"]
    assert [(item["in"], item["name"], item["required"]) for item in entry["parameters"]] == [
        ("path", "uid", True),
        ("query", "fields", False),
    ]
    body = entry["requestBody"]["content"]["application/json"]["schema"]
    assert (set(body["properties"]), body["required"]) == ({"FirstName", "NickName"}, ["FirstName"])


def test_errors_are_listed_by_status_with_their_codes() -> None:
    made = described(READ)
    responses = made["paths"]["/things/{uid}"]["get"]["responses"]
    assert {status: response["description"].splitlines()[-1] for status, response in responses.items()} == {
        "200": "Success.",
        "400": "- `7` Wrong",
        "404": "- `8` Gone",
    }
    assert responses["404"]["content"]["application/json"]["examples"] == {
        "Gone": {"$ref": "#/components/examples/Gone"}
    }
    named = made["components"]["examples"]["Gone"]
    assert (named["summary"], named["value"]["ErrorCode"]) == ("8 Gone", 8)


def test_chapter_is_the_tag_of_its_areas() -> None:
    chapters = (Chapter("Some things", "Those below.", ("things",), ("/things/",)), Chapter("None", "", ("none",)))
    publication = Publication(groups=(ChapterGroup("All", chapters, "What there is."),))
    every = declared("things.all", "GET /things", Wire, API_KEY)
    made = document(Catalogue((READ, every)), "https://api.example.com", publication=publication)
    assert [made["paths"][path]["get"]["tags"] for path in ("/things", "/things/{uid}")] == [
        ["things"],
        ["Some things"],
    ]
    assert made["tags"] == [{"name": "Some things", "description": "Those below."}, {"name": "things"}]
    assert made["x-tagGroups"] == [{"name": "All", "description": "What there is.", "tags": ["Some things"]}]


def test_described_field_keeps_its_description() -> None:
    made = document(
        Catalogue((CHANGE,)),
        "https://api.example.com",
        publication=Publication(describe=lambda _, name: f"The {name}."),
    )
    entry = made["paths"]["/things/{uid}"]["put"]
    assert [item["description"] for item in entry["parameters"]] == ["The uid.", "The fields."]
    body = entry["requestBody"]["content"]["application/json"]["schema"]
    assert body["properties"]["FirstName"]["description"] == "The FirstName."


def test_each_auth_alternative_is_one_requirement() -> None:
    either = declared("things.any", "GET /any", ById, API_KEY | ACCESS_TOKEN)
    paths = described(READ, either, declared("o", "GET /o", ById, OPEN))["paths"]
    assert paths["/things/{uid}"]["get"]["security"] == [{"ApiKey": [], "ApiSecret": []}]
    assert paths["/any"]["get"]["security"] == [{"ApiKey": []}, {"AccessToken": []}]
    assert paths["/o"]["get"]["security"] == [{}]


def test_operations_at_one_address_are_one_entry() -> None:
    other = declared("things.find", "GET /things", ByEmail, API_KEY, when=("email",))
    every = declared("things.all", "GET /things", Wire, API_KEY)
    entry = described(other, every)["paths"]["/things"]["get"]
    assert entry["operationId"] == described(every, other)["paths"]["/things"]["get"]["operationId"] == "things.all"
    assert entry["x-told-apart-by"] == {"things.find": ["email"], "things.all": []}
    assert [(item["name"], item["required"]) for item in entry["parameters"]] == [("email", False)]


def test_operation_on_the_tenant_host_names_its_server() -> None:
    there = declared("things.there", "GET /there", Wire, OPEN, on=Host.TENANT)
    assert described(there)["paths"]["/there"]["get"]["servers"][0]["url"] == "https://{tenant}.example.com"


def test_document_names_exactly_the_public_operations() -> None:
    catalogue = load_catalogue()
    made = full_document()
    named = [
        name
        for methods in made["paths"].values()
        for entry in methods.values()
        for name in entry.get("x-told-apart-by", {entry["operationId"]: ()})
    ]
    assert sorted(named) == sorted(operation.name for operation in catalogue if operation.documentation.is_public)


def test_every_reference_resolves() -> None:
    made = full_document()
    used = set(re.findall(r"'#/components/schemas/([^']+)'", str(made)))
    assert used - set(made["components"]["schemas"]) == set()


def test_every_schema_is_valid() -> None:
    for schema in full_document()["components"]["schemas"].values():
        jsonschema_rs.meta.validate({"$schema": "https://json-schema.org/draft/2020-12/schema", **schema})


def test_openapi_validator_accepts_the_document() -> None:
    read = schemathesis.openapi.from_dict(full_document())
    read.validate()
    assert sum(1 for _ in read.get_all_operations()) > 20


def test_documented_media_types_are_those_sent() -> None:
    paths = full_document()["paths"]
    revoked = paths["/api/oidc/revoke"]["post"]["responses"]["200"]
    assert "content" not in revoked
    claims = paths["/service/oidc/userinfo"]["get"]["responses"]["200"]["content"]
    assert set(claims) == {"application/json", "application/jwt"}
    assert claims["application/jwt"]["schema"] == {"type": "string"}


def test_access_needed_by_application_tokens_is_published() -> None:
    paths = full_document()["paths"]
    said = {
        "/identity/v2/auth/account": ("get", {"scope": "account:read", "freshProof": False}),
        "/identity/v2/auth/email": ("delete", {"scope": "account:write", "freshProof": True}),
        "/identity/v2/auth/access_token/sliding_token": ("get", {"scope": None, "freshProof": False}),
        "/service/oidc/userinfo": ("get", {"scope": "", "freshProof": False}),
    }
    for path, (method, item) in said.items():
        assert paths[path][method]["x-application-access"] == item, path
    assert "password" in paths["/identity/v2/auth/account"]["put"]["x-application-access"]["freshProof"]
    refused = paths["/identity/v2/auth/email"]["delete"]["responses"]["403"]["description"]
    assert "`1143` Access Unauthorized" in refused
    assert "`1193` " in refused
