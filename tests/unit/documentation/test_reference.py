"""The pages of the API reference: every operation has one, and the first view stays small."""

from __future__ import annotations

import gzip
import json
import re
from functools import cache
from typing import Any

import pytest

from app.contract.published.examples import load_examples
from app.contract.published.openapi import openapi_document
from app.reference import NO_TRIAL, Trial
from app.reference.assets import RENDERER
from app.reference.field_list import field_groups
from app.reference.operation_document import for_renderer
from app.reference.pages import Pages
from tests.support.browsers.page_checkers import html_problems
from tests.support.documentation.reference import client, get, operations, pages
from tests.support.operations.published import API_URL, published_interface

FIRST_VIEW_BYTES = 300_000
"""What the page of any operation costs, compressed, on the first visit."""
SIGN_IN = "/docs/sign-in/sign_in.with_password"


@cache
def documents() -> dict[str, bytes]:
    """Return the compressed document that the renderer loads for each operation, by the address of the operation's page."""
    return {address: drawn_page(f"{address}.json") for address in pages()._book.addresses.values()}


def drawn_page(path: str) -> bytes:
    """Return the compressed content of a page or of an operation's document."""
    found = pages()._drawn(path)
    assert found is not None, path
    return found.compressed


def addresses_in(html: str) -> set[str]:
    return set(re.findall(r'(?:src|href|data-document|data-style)="(/docs/[^"#]*\.(?:js|json|css))"', html))


def test_every_operation_has_a_page_and_a_document_of_its_own() -> None:
    chapters = set(re.findall(r'<li><a href="(/docs/[a-z-]+)"', get("/docs").text))
    lists = [re.findall(r'<li id="([^"]+)"><a class="op" href="([^"]+)">', get(chapter).text) for chapter in chapters]
    listed = dict(entry for entries in lists for entry in entries)
    assert set(listed) == set(operations())
    assert sum(map(len, lists)) == len(listed), "an operation is in two chapters"
    for name, (path, method, stated) in operations().items():
        assert drawn_page(listed[name])
        document = json.loads(gzip.decompress(documents()[listed[name]]))
        assert list(document["paths"]) == [path]
        drawn = document["paths"][path][method]
        samples = [{**item, "source": item["source"].removesuffix("\n")} for item in drawn["x-code-samples"]]
        assert samples == stated["x-codeSamples"]
        assert set(drawn["responses"]) == {status for status in stated["responses"] if status < "4"}


def test_page_of_an_operation_describes_it_without_scripts() -> None:
    html = get(SIGN_IN).text
    assert "<h1>Sign in with a password</h1>" in html
    assert "POST</span> <code>/identity/v2/auth/login</code>" in html
    assert '<a href="/docs/introduction#ApiKey">API key</a>' in html
    listed = html.partition("<noscript>")[2].partition("</noscript>")[0]
    assert "<code>curl" in listed
    assert '<dt><code>password</code> <span class="status">string, required</span></dt>' in listed
    assert '<dt><code>email</code> <span class="status">string</span></dt><dd>The email address.</dd>' in listed
    assert "<dt><code>access_token</code>" in listed


def test_chapter_has_method_path_and_summary_of_each_operation() -> None:
    text = re.sub(r"\s+", " ", re.sub(r"<[^>]+>", "", get("/docs/sign-in").text))
    assert "Sign in with a password POST /identity/v2/auth/login " in text


def test_first_view_is_small() -> None:
    """The largest operation, with all that its page loads."""
    largest = max(documents(), key=lambda address: len(documents()[address]))
    sizes = {}
    for address in (largest, *addresses_in(get(largest).text)):
        answer = get(address, **{"Accept-Encoding": "gzip"})
        assert (answer.status_code, answer.headers["Content-Encoding"]) == (200, "gzip"), address
        sizes[address] = len(answer.data)
    assert len(sizes) == 7
    assert sum(sizes.values()) < FIRST_VIEW_BYTES, sizes


def test_overview_fits_one_first_flight() -> None:
    """With its style sheet and script: ten segments of TCP (RFC 6928)."""
    addresses = ("/docs", *addresses_in(get("/docs").text))
    assert len(addresses) == 3
    assert sum(len(get(address, **{"Accept-Encoding": "gzip"}).data) for address in addresses) <= 14_600


def test_overview_has_the_meaning_of_each_group() -> None:
    text = get("/docs").text
    for group in pages()._book.groups:
        first = f'<a href="/docs/{group.chapters[0].slug}"><strong>{group.name}</strong> {group.description}</a>'
        assert first in text, group.name
        assert re.fullmatch(r"[A-Z][^.]+\.", group.description), group.name


def test_files_are_named_by_their_content_and_cached() -> None:
    loaded = [address for address in addresses_in(get(SIGN_IN).text) if not address.endswith(".json")]
    assert len(loaded) == 5
    for address in loaded:
        assert re.fullmatch(r"/docs/assets/[a-z-]+\.[0-9a-f]{12}\.(js|css)", address)
        assert get(address).headers["Cache-Control"] == "public, max-age=31536000, immutable"
    assert get(re.sub(r"[0-9a-f]{12}", "0" * 12, loaded[0])).status_code == 404
    assert RENDERER.read_bytes() in [get(address).data for address in loaded]


def test_every_operation_lists_its_fields_with_their_meaning() -> None:
    for address, compressed in documents().items():
        document = json.loads(gzip.decompress(compressed))
        ((_, methods),) = document["paths"].items()
        (operation,) = methods.values()
        listed = [field for group in field_groups(document) for field in group.fields]
        bodies = [operation.get("requestBody", {}), *operation["responses"].values()]
        schemas = [content["schema"] for body in bodies for content in body.get("content", {}).values()]
        stated = {item["name"] for item in operation["parameters"]}
        stated |= {name for schema in schemas for name in schema.get("properties", ())}
        assert {field.name for field in listed if "." not in field.name or field.name in stated} == stated, address
        assert [field for field in listed if not (field.meaning and field.type)] == [], address


def test_nested_fields_and_choices_are_named() -> None:
    listed = {
        field.name: field.type
        for group in field_groups(json.loads(gzip.decompress(documents()["/docs/accounts/accounts.create"])))
        for field in group.fields
        if group.title == "Request body"
    }
    assert (listed["Email"], listed["Email[].Type"], listed["PINInfo.PIN"]) == ("object[]", "string", "string")


@pytest.mark.parametrize(("path", "is_lax"), [("/docs", False), ("/docs/sign-in", False), (SIGN_IN, True)])
def test_pages_load_only_their_own_files(path: str, is_lax: bool) -> None:
    answer = get(path)
    policy = answer.headers["Content-Security-Policy"]
    assert ("'unsafe-inline'" in policy) == is_lax
    assert "script-src 'self';" in policy
    assert re.findall(r"<script(?! src)|<style|\son[a-z]+=|\sstyle=", answer.text) == []
    links = re.findall(r'(?:src|href)="(?!data:|/|#)([^"]*)"', answer.text)
    assert links == []


def test_every_kind_of_page_is_valid_html() -> None:
    kinds = [
        "/docs", "/docs/introduction", "/docs/errors", "/docs/changelog", "/docs/sign-in", SIGN_IN, "/docs/first-sign-in",
        "/docs/first-account", "/docs/first-machine-token", "/docs/guides", "/docs/guides/webhooks", "/docs/guides/configuration",
        "/docs/search?q=token", "/docs/search", "/docs/nothing",
    ]  # fmt: skip
    found = html_problems({path: get(path).text for path in kinds})
    # Addresses end in names of operations, numbers of errors and anchors of headings, which HTML allows as IDs.
    assert [problem for problem in found if " valid-id: " not in problem] == []


def test_whole_document_stays_at_its_address() -> None:
    answer = get("/openapi.json")
    assert json.loads(answer.data) == published_interface()
    assert answer.headers["Access-Control-Allow-Origin"] == "*"


@pytest.mark.parametrize(
    ("path", "target"),
    [
        ("/", "/docs"),
        ("/docs/sign_in.with_password", "/docs/sign-in/sign_in.with_password"),
        ("/docs/passkeys/sign_in.with_password", "/docs/sign-in/sign_in.with_password"),
    ],
)
def test_other_addresses_lead_to_the_page(path: str, target: str) -> None:
    answer = get(path)
    assert (answer.status_code, answer.headers["Location"]) == (302, target)


def test_unknown_pages_are_not_found_others_are_passed_on() -> None:
    assert get("/docs/nothing").status_code == get("/docs/sign-in/nothing").status_code == 404
    assert get("/identity/v2/auth/login").status_code == 418
    assert client().post("/docs", base_url=API_URL).status_code == 418
    assert client().get("/docs", base_url="http://acme.example.com").status_code == 418


def test_page_is_not_sent_again_while_it_stays_the_same() -> None:
    etag = get("/docs").headers["ETag"]
    assert get("/docs", **{"If-None-Match": etag}).status_code == 304


def drawn(name: str, trial: Trial = NO_TRIAL) -> dict[str, Any]:
    path, method, _ = operations()[name]
    made: dict[str, Any] = for_renderer(published_interface(), path, method, trial)["paths"][path][method]
    return made


def test_renderer_gets_a_field_or_null_as_the_field() -> None:
    body = drawn("sign_in.with_password")["requestBody"]["content"]["application/json"]
    assert body["schema"]["properties"]["email"] == {
        "maxLength": 320,
        "type": "string",
        "description": "The email address.",
    }


def test_required_fields_and_those_of_the_example_are_first() -> None:
    body = drawn("sign_in.with_password")["requestBody"]["content"]["application/json"]
    shown = body["examples"]["sign_in.with_password"]["value"]
    assert list(body["schema"]["properties"])[: len(shown)] == [
        "password",
        *(name for name in shown if name != "password"),
    ]


def test_parameters_that_must_be_sent_are_filled_in() -> None:
    parameters = {item["name"]: item for item in drawn("accounts.read_by_uid")["parameters"]}
    assert parameters["uid"]["schema"]["default"] == parameters["uid"]["example"]
    assert all("default" not in parameter["schema"] for parameter in parameters.values() if not parameter["required"])


def test_server_of_a_tenant_is_an_address() -> None:
    assert drawn("oauth_tokens.token")["servers"][0]["url"] == "http://acme.example.com"
    assert drawn("oauth_tokens.token", Trial(tenant="globex"))["servers"][0]["url"] == "http://globex.example.com"


def filled(name: str, trial: Trial) -> dict[str, Any]:
    """Return an operation as the renderer reads it, with the trial's values in its example."""
    document = openapi_document(API_URL, "http://{tenant}.example.com", trial.filled(load_examples()))
    path, method, _ = operations()[name]
    made: dict[str, Any] = for_renderer(document, path, method, trial)["paths"][path][method]
    return made


def test_trial_fills_in_credentials_and_fields() -> None:
    trial = Trial("acme", {"ApiKey": "the-key-of-acme"}, {"email": "grace@example.com", "password": "correct-horse-7"})
    operation = filled("sign_in.with_password", trial)
    body = operation["requestBody"]["content"]["application/json"]
    assert body["examples"]["sign_in.with_password"]["value"] == trial.fields
    for sample in operation["x-code-samples"]:
        assert "the-key-of-acme" in sample["source"]
        assert "correct-horse-7" in sample["source"]
        assert "API_KEY" not in sample["source"]
    shown = Pages(published_interface(), trial)._drawn(SIGN_IN)
    assert shown is not None
    assert b'value="the-key-of-acme"' in gzip.decompress(shown.compressed)


def test_trial_leaves_out_what_a_header_has() -> None:
    trial = Trial("acme", {"ClientCredentials": "shop:secret"})
    content = drawn("oauth_tokens.token", trial)["requestBody"]["content"]
    assert next(iter(content)) == "application/x-www-form-urlencoded"
    (example,) = content["application/x-www-form-urlencoded"]["examples"].values()
    assert example["value"]["grant_type"] == "authorization_code"
    assert "client_secret" not in example["value"]


def members(value: Any) -> list[Any]:
    """Return all values within an example."""
    inner = list(value.values()) if isinstance(value, dict) else value if isinstance(value, list) else []
    return [*inner, *(found for item in inner for found in members(item))]


def test_examples_of_answers_have_no_nulls() -> None:
    for document in documents().values():
        ((_, methods),) = json.loads(gzip.decompress(document))["paths"].items()
        for response in next(iter(methods.values()))["responses"].values():
            for content in response.get("content", {}).values():
                assert None not in members([example["value"] for example in content.get("examples", {}).values()])


def test_get_is_filled_in_with_what_its_example_reads() -> None:
    trial = Trial("acme", {}, {"username": "ada"})
    found = {
        item["name"]: item["schema"].get("default")
        for item in filled("accounts.read_by_identifier", trial)["parameters"]
    }
    assert (found["username"], found["email"]) == ("ada", None)


DISCOVERY = "/docs/discovery-and-userinfo/oauth_metadata.discovery"


@pytest.mark.parametrize(
    ("host", "path", "leads_to"),
    [
        ("api", DISCOVERY, f"http://acme.example.com{DISCOVERY}"),
        ("acme", SIGN_IN, f"http://api.example.com{SIGN_IN}"),
        ("acme", "/docs", "http://api.example.com/docs"),
        ("acme", DISCOVERY, None),
        ("api", SIGN_IN, None),
    ],
)
def test_pages_of_a_trial_are_on_the_host_of_their_operation(host: str, path: str, leads_to: str | None) -> None:
    answer = client("acme").get(path, base_url=f"http://{host}.example.com")
    assert answer.headers.get("Location") == leads_to
    assert leads_to or f'data-host="{host}.example.com"' in answer.text


def test_operation_of_a_tenant_has_no_try_outside_the_demo() -> None:
    html = get(DISCOVERY).text
    assert "this page can’t send requests there" in html
    assert "Try it" not in html


def test_without_a_trial_no_credential_is_shown() -> None:
    assert set(re.findall(r'<input id="key-[^>]*value="([^"]*)"', get(SIGN_IN).text)) == {""}
