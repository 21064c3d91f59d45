"""Rules of the code base that no linter checks. Each test lists all offences at once."""

import ast
import re
import tomllib
from pathlib import Path

import pytest
import yaml

from tests.support import sources

pytestmark = pytest.mark.usefixtures("sources_last")

CODE = ("app", "tests", "tools", "examples")
MAX_FILE_LINES = 400
MAX_FUNCTION_LINES = 40
MAX_DECISION_LINES = 50
MAX_TEST_NAME = 60
MEASURED = {".py", ".html", ".css", ".js", ".mjs", ".sh", ".sql", ".toml", ".yaml"}
VAGUE = {"util", "utils", "helper", "helpers", "common", "manager", "managers", "misc", "data", "info"}

# Written in pieces, so that this file passes its own rule.
HOSTS = ["pypi" + ".org", "python" + "hosted.org", "npmjs" + ".org", "npmjs" + ".com/", "yarn" + "pkg.com"]
HOMES = re.compile(r"(?<![\w.}~-])/(?:" + "ro" + r"ot|ho" + r"me/\w+|Us" + r"ers/\w+|wo" + r"rk)/\w")


def readable() -> list[Path]:
    binary = {".png", ".jpg", ".jpeg", ".webp", ".ico", ".woff2", ".gz", ".mo"}
    return [path for path in sources.files() if path.suffix not in binary]


def test_no_file_is_too_long() -> None:
    measured = [path for path in sources.files() if path.suffix in MEASURED]
    lengths = {str(path): sources.text(path).count("\n") for path in measured}
    assert {name: lines for name, lines in lengths.items() if lines > MAX_FILE_LINES} == {}


def test_no_function_is_too_long() -> None:
    long = []
    for path in sources.under(*CODE):
        for node in sources.functions(path):
            lines = (node.end_lineno or node.lineno) - node.lineno + 1 - docstring_lines(node)
            if lines > MAX_FUNCTION_LINES:
                long.append(f"{path}:{node.lineno} {node.name}: {lines} lines")
    assert long == []


def docstring_lines(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    first = node.body[0]
    is_docstring = (
        isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str)
    )
    return (first.end_lineno or first.lineno) - first.lineno + 1 if is_docstring else 0


def test_every_package_has_an_init_file() -> None:
    """Import contracts silently ignore a folder without `__init__.py`."""
    folders = {path.parent for path in sources.under("app")} - {Path("app/identity/platform/store/migrations/versions")}
    assert sorted(str(folder) for folder in folders if not (sources.ROOT / folder / "__init__.py").exists()) == []


def test_no_module_has_a_vague_name() -> None:
    vague = [str(path) for path in sources.under(*CODE) if VAGUE & {*path.parts[:-1], path.stem}]
    assert vague == []


def test_kit_names_no_concept_of_the_domain() -> None:
    concept = re.compile(r"\b(?:tenants?|hub|accounts?|passkeys?|captchas?|sign-in|pin)\b", re.IGNORECASE)
    found = {
        f"{path}:{number} {line.strip()}"
        for path in sources.under("app/kit")
        for number, line in enumerate(sources.text(path).splitlines(), 1)
        if concept.search(line) and path.name not in {"logs.py", "input_filter.py"}  # they list names of secrets
    }
    assert found == set()


def test_no_class_has_a_vague_name() -> None:
    vague = []
    for path in sources.under("app"):
        classes = (node for node in sources.nodes(path) if isinstance(node, ast.ClassDef))
        vague += [f"{path} {node.name}" for node in classes if re.search(r"(Manager|Helper|Utils?|Misc)$", node.name)]
    assert vague == []


def test_no_name_calls_an_account_a_user() -> None:
    """`user_agent`, `userinfo`, `username`, `user_code` and WebAuthn's `user_handle` and `user_entity` are terms of standards."""
    wrong = []
    for path in sources.under("app"):
        for node in sources.functions(path):
            names = [node.name, *(argument.arg for argument in (*node.args.args, *node.args.kwonlyargs))]
            bad = [
                name
                for name in names
                if re.search(r"(^|_)users?(_|$)", name) and not re.search("user_(agent|code|entity|handle)", name)
            ]
            wrong += [f"{path}:{node.lineno} {name}" for name in bad]
    assert wrong == []


def test_no_file_names_a_machine_or_registry() -> None:
    found = []
    for path in readable():
        text = sources.text(path)
        found += [f"{path}: {host}" for host in HOSTS if host in text]
        found += [f"{path}: {match.group()}" for match in HOMES.finditer(text)]
    assert found == []


OF_MANY_AREAS = ("app/identity/assembly/table_modules.py", "app/identity/directory/account_search")
"""The list of all tables, and the search, one statement over the tables of several areas."""


def test_tables_of_an_area_are_imported_only_there() -> None:
    """An area is asked through its service or store."""
    outside = []
    for path in (path for path in sources.under("app") if not str(path).startswith(OF_MANY_AREAS)):
        for name in sources.imports(path):
            match = re.match(r"app\.identity\.(?!platform\.store\.tables)([\w.]+)\.tables\b", name)
            if match and not path.is_relative_to(Path("app/identity", *match[1].split("."))):
                outside.append(f"{path} imports {name}")
    assert outside == []


def test_every_exception_to_a_check_has_a_reason() -> None:
    """`# noqa: S603 - the command is ours`: the code of the rule, and the reason on the same line."""
    silent = []
    mark = re.compile(r"#\s*(?:noqa|type:\s*ignore|pragma: no cover|fmt: (?:skip|off)|djlint:\s*off)")
    reason = re.compile(
        r"#\s*(?:noqa:\s*[A-Z]+\d+(?:,\s*[A-Z]+\d+)*|type:\s*ignore\[[\w-]+(?:,\s*[\w-]+)*\])\s*(?:#|-|—|:)?\s*\w"
    )
    for path in sources.under(*CODE):
        if path == Path("tests/catalogue/repository/test_code_rules.py"):
            continue
        for number, line in enumerate(sources.text(path).splitlines(), 1):
            if (found := mark.search(line)) and "fmt:" not in found.group() and not reason.search(line):
                silent.append(f"{path}:{number} {line.strip()}")
    assert silent == []


def test_tests_use_no_mocks_and_no_skips() -> None:
    wrong = []
    forbidden = re.compile(
        r"unittest\.mock|MagicMock|pytest\.(?:skip|importorskip|xfail)\b|mark\.(?:skip|skipif|xfail)\b"
    )
    for path in sources.under("tests"):
        if path == Path("tests/catalogue/repository/test_code_rules.py"):
            continue
        wrong += [f"{path}: {match.group()}" for match in forbidden.finditer(sources.text(path))]
    assert wrong == []


def test_decisions_are_short() -> None:
    decisions = [path for path in sources.files() if path.match("app/decisions/*/*.md")]
    lengths = {str(path): sources.text(path).count("\n") for path in decisions}
    assert {name: lines for name, lines in lengths.items() if lines > MAX_DECISION_LINES} == {}


def test_every_part_of_app_is_in_the_import_contracts() -> None:
    """A part outside the contracts has unrestricted imports. All parts read `settings`, which imports none of them."""
    contracts = tomllib.loads(sources.text(Path("pyproject.toml")))["tool"]["importlinter"]["contracts"]
    complete = next(contract for contract in contracts if "layers" in contract and "containers" not in contract)
    named = set(re.findall(r"app\.\w+", " ".join(complete["layers"])))
    parts = {path.parts[1].removesuffix(".py") for path in sources.under("app")} - {"__init__", "decisions", "settings"}
    assert named == {f"app.{part}" for part in parts}


WORD_BOUND = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|_+")
NAMES_TO_AVOID = Path("tests/catalogue/names_to_avoid.yaml")


def test_names_are_short_and_in_plain_words() -> None:
    """Names of modules, classes, functions and parameters follow `names_to_avoid.yaml`, test names have at most 60 characters.

    An exception that no name needs any longer fails too.
    """
    rules = yaml.safe_load(sources.text(NAMES_TO_AVOID))
    words, names = set(rules["words"].split()), set(rules["names"].split())
    terms, exceptions = re.compile("|".join(rules["terms"])), set(rules["exceptions"])
    wrong, unused = {}, set(exceptions)
    for path in sources.under(*CODE):
        for name in [path.stem, *defined_names(path)]:
            plain = terms.sub("", WORD_BOUND.sub("_", name).lower())
            found = sorted(words & set(plain.split("_")))
            found += [name] if name in names else []
            if name.startswith("test_") and len(name) > MAX_TEST_NAME:
                found.append(f"{len(name)} characters")
            if found and name not in exceptions:
                wrong[f"{path} {name}"] = ", ".join(found)
            if found:
                unused.discard(name)
    assert (wrong, unused) == ({}, set())


def defined_names(path: Path) -> list[str]:
    """Return the classes, functions and parameters of a file."""
    names: list[str] = []
    for node in sources.nodes(path):
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            names.append(node.name)
        if isinstance(node, ast.arg):
            names.append(node.arg)
    return names
