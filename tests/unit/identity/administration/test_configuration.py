"""Configuration files: valid values are read, and all problems are reported together, each with its line."""

import json
from pathlib import Path

import pytest

from app.contract.tenants.file import json_schema
from app.identity.administration.configuration.file import yaml_document
from app.identity.administration.configuration.file.read_configuration import read, read_file
from app.identity.administration.configuration.file.yaml_document import ConfigurationError

ACME = "tenants:\n  - name: acme\n"


def problems(text: str, folder: Path = Path()) -> list[str]:
    with pytest.raises(ConfigurationError) as refused:
        read(text.encode(), "f.yaml", folder)
    return [str(problem) for problem in refused.value.problems]


def test_parsed_file_has_its_values_and_nothing_more() -> None:
    entry = read(f"{ACME}    settings: {{custom_uid: true}}\n".encode(), "f.yaml", Path()).tenants[0]
    assert entry.settings is not None
    assert entry.settings.model_dump(exclude_unset=True) == {"custom_uid": True}
    assert entry.applications is None


def test_every_problem_is_listed_with_its_line_and_key() -> None:
    text = """tenants:
  - name: acme
    settings: {two_factor: maybe}
    applications:
      - {name: shop, redirect_uri: [x]}
      - {name: token, redirect_uris: ["http://evil.example/cb"]}
  - name: api
"""
    assert problems(text) == [
        "f.yaml:3: tenants[0].settings.two_factor: expected one of required, optional, disabled; found 'maybe'",
        "f.yaml:5: tenants[0].applications[0].redirect_uri: isn't a known key; did you mean redirect_uris?",
        "f.yaml:6: tenants[0].applications[1].name: expected another name; the service uses this one in its own addresses; found 'token'",
        (
            "f.yaml:6: tenants[0].applications[1].redirect_uris[0]:"
            " expected an https address (http works on localhost and 127.0.0.1 only); found 'http://evil.example/cb'"
        ),
        "f.yaml:7: tenants[1].name: expected another name; this one is reserved; found 'api'",
    ]


@pytest.mark.parametrize("name", ["api", "inbox", "shop", "www"])
def test_host_names_of_the_service_are_no_tenant_names(name: str) -> None:
    assert len(problems(f"tenants: [{{name: {name}}}]")) == 1


@pytest.mark.parametrize(
    "name", ["authorize", "Token", "device", "userinfo", "jwks", "logout", "register", "introspect", "revoke", "par"]
)
def test_paths_of_the_service_are_no_application_names(name: str) -> None:
    assert len(problems(f"{ACME}    applications: [{{name: {name}, redirect_uris: ['https://a.example/']}}]")) == 1


@pytest.mark.parametrize("entry", ["passkeys: false", "legacy_native_login: true"])
def test_setting_of_a_later_release_is_read(entry: str) -> None:
    assert read(f"{ACME}    settings: {{{entry}}}".encode(), "f.yaml", Path()).tenants[0].settings


def test_problem_never_repeats_a_secret() -> None:
    text = f"{ACME}    api_secret: my-own-words\n    accounts: [{{email: a@b.example, password: 12345}}]\n"
    assert "my-own-words" not in "".join(problems(text))
    assert "12345" not in "".join(problems(text))


@pytest.mark.parametrize(
    "uri",
    [
        "javascript:alert(1)",
        "data:text/html,x",
        "/cb",
        "https://a.example/#x",
        "https://*.a.example/",
        "https://u:p@a.example/",
    ],
)
def test_unsafe_redirect_uri_is_refused(uri: str) -> None:
    assert len(problems(f"{ACME}    applications: [{{name: shop, redirect_uris: ['{uri}']}}]")) == 1


@pytest.mark.parametrize(
    "uri", ["https://a.example/cb?x=1", "http://127.0.0.1:9/cb", "com.example.app:/done", "http://shop.localhost:8000/"]
)
def test_common_redirect_uri_is_accepted(uri: str) -> None:
    assert read(f"{ACME}    applications: [{{name: shop, redirect_uris: ['{uri}']}}]".encode(), "f", Path()).tenants


@pytest.mark.parametrize("uri", ["localhost:5000/a", "acme.example:443"])
def test_redirect_uri_without_a_scheme_is_refused(uri: str) -> None:
    for kind in ("web", "native"):
        (problem,) = problems(
            f"{ACME}    applications: [{{name: a, application_type: {kind}, redirect_uris: ['{uri}']}}]"
        )
        assert f"an address with its scheme, such as http://{uri}" in problem


def test_scheme_without_a_dot_needs_a_native_application() -> None:
    (problem,) = problems(f"{ACME}    applications: [{{name: shop, redirect_uris: ['desk://done']}}]")
    assert "desk needs application_type: native" in problem
    native = f"{ACME}    applications: [{{name: shop, application_type: native, redirect_uris: ['desk://done']}}]"
    assert read(native.encode(), "f", Path()).tenants


def test_duplicate_is_reported_with_the_first_line() -> None:
    text = f"{ACME}    accounts:\n      - {{email: Ada@b.example}}\n      - {{email: ada@b.example}}\n  - name: acme\n"
    assert problems(text) == [
        "f.yaml:5: tenants[0].accounts[1].email: is listed twice; see line 4",
        "f.yaml:6: tenants[1].name: is listed twice; see line 2",
    ]


def test_invalid_account_email_is_reported() -> None:
    assert problems(f"{ACME}    accounts: [{{email: not-one}}]") == [
        "f.yaml:3: tenants[0].accounts[0].email: expected an email address; found 'not-one'"
    ]


@pytest.mark.parametrize(
    "text",
    [
        "a: &x [1]\nb: [*x, *x]",
        "a: !!python/object/apply:os.system [ls]",
        "[" * 100_000,
        "a: 1\n---\nb: 2",
        "a: b: c",
        'a: "\\0"',
        "tenants: [{name: acme",
        "\t",
        "- tenants",
        "tenants: {}",
        "tenants: [acme]",
        "",
        "tenants: [{1: 2}]",
        "{[a]: b}",
    ],
)
def test_malformed_file_is_refused_quickly(text: str) -> None:
    assert 1 <= len(problems(text)) <= 3


def test_nested_yaml_aliases_do_not_expand() -> None:
    text = "a0: &a0 [x, x]\n" + "".join(f"a{n}: &a{n} [*a{n - 1}, *a{n - 1}]\n" for n in range(1, 60))
    assert "anchors" in problems(text)[0]


def test_huge_file_is_refused_unread(tmp_path: Path) -> None:
    file = tmp_path / "huge.yaml"
    with file.open("wb") as huge:
        huge.truncate(yaml_document.MAX_BYTES + 1)
    with pytest.raises(ConfigurationError, match="at most 4 MiB"):
        read_file(file)


def test_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="No such file"):
        read_file(tmp_path / "nothing.yaml")


def test_theme_folder_gives_the_brand(tmp_path: Path) -> None:
    theme = tmp_path / "acme"
    theme.mkdir()
    (theme / "theme.yaml").write_text("color: '#123456'\nlogo: logo.svg\nsentence: {en: Hello, de: Hallo}\n")
    (theme / "logo.svg").write_text("<svg xmlns='http://www.w3.org/2000/svg'/>")
    brand = read(f"{ACME}    theme: ./acme\n".encode(), "f.yaml", tmp_path).brands["acme"]
    assert (brand.color, brand.sentence["de"]) == ("#123456", "Hallo")
    assert (brand.logo or "").startswith("data:image/svg+xml;base64,")


def test_problem_in_a_theme_names_the_line_of_the_theme(tmp_path: Path) -> None:
    theme = tmp_path / "acme"
    theme.mkdir()
    (tmp_path / "secret.svg").write_text("x")
    (theme / "theme.yaml").write_text("color: red\nlogo: ../secret.svg\n")
    found = problems(f"{ACME}    theme: acme\n", tmp_path)
    assert [line.split(": expected")[0] for line in found] == ["acme/theme.yaml:1: color", "acme/theme.yaml:2: logo"]


def test_schema_names_every_key_of_a_tenant() -> None:
    published = json.loads(json.dumps(json_schema()))
    assert set(published["$defs"]["TenantFile"]["properties"]) >= {
        "name",
        "settings",
        "applications",
        "accounts",
        "url_whitelist",
        "theme",
    }
    assert published["$defs"]["TenantFile"]["additionalProperties"] is False
