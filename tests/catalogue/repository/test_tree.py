"""The shape of the tree: modules import one way and change no other one, folders are small, classes, aliases and texts have own names."""

from __future__ import annotations

import ast
import re
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import Any

import pytest

from tests.support import sources
from tools import syntax

pytestmark = pytest.mark.usefixtures("sources_last")

MAX_MODULES = 20
"""Of one folder, without `__init__.py` and without folders below."""

RENAMED = {"app.commands.database: app.identity.platform.store.migrate": "the command has this name"}
"""Imports that may give a module another name."""

TWO_MODULES = {
    "authorization_details": "the check of a parameter of the authorization request has its name",
    "claims": "as above, beside the claims of the outbox",
    "initial_access_tokens": "the export names sections of the file as the file does",
}
"""Names of several modules that other modules import."""

HANDLERS_OF_OTHERS = {
    f"app.identity.{importing}: app.identity.{module}"
    for importing, module in (
        ("pages_api.accounts.account_second_factors", "pages_api.recovery.password_and_pin"),
        ("pages_api.accounts.account_second_factors", "pages_api.sign_in.second_factor"),
        ("pages_api.accounts.linked_identities", "pages_api.sign_in.federated_login"),
        ("pages_api.accounts.pins", "pages_api.recovery.password_and_pin"),
        ("pages_api.oauth.jwt_sign_on", "pages_api.sign_in.federated_login"),
        ("public_api.management.second_factors", "public_api.self_service.passkeys"),
        ("public_api.management.second_factors", "public_api.self_service.second_factors"),
        ("public_api.self_service.sent_factors", "public_api.sign_in.sent_codes"),
    )
}
"""Imports of modules with handlers for their other functions. Do not add one: move what is shared into a service."""


def test_no_folder_has_too_many_modules() -> None:
    """Files of migrations are one after the other, by number."""
    counts = Counter(path.parent for path in sources.under("app", "tests", "tools") if path.name != "__init__.py")
    del counts[Path("app/identity/platform/store/migrations/versions")]
    assert {str(folder): count for folder, count in counts.items() if count > MAX_MODULES} == {}


def test_no_two_classes_of_the_product_have_one_name() -> None:
    """Private classes, which no other module names, may."""
    places = defaultdict(list)
    for path in sources.under("app"):
        for node in sources.tree(path).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places[node.name].append(str(path))
    assert {name: paths for name, paths in places.items() if len(paths) > 1} == {}


def test_no_modules_import_one_another() -> None:
    try:
        TopologicalSorter({name: {*imported(name)} - {name} for name in modules()}).prepare()
    except CycleError as found:
        pytest.fail(" imports ".join(reversed(found.args[1])))


def test_no_module_assigns_into_another_at_import() -> None:
    found = [
        f"{name}:{node.lineno}: {ast.unparse(node)}"
        for name, path in modules().items()
        if name.startswith("app.")
        for tree in [ast.parse(sources.text(path))]
        for node in tree.body
        if isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign)
        and not imported_names(tree).isdisjoint(owners(node))
    ]
    assert found == [], "app/identity/assembly/extension_points.py connects what a package calls of a higher one"


def test_no_area_imports_handlers_of_another() -> None:
    """Rules that several areas use belong in a service."""
    found = {
        f"{name}: {other}"
        for name in modules()
        if name.startswith("app.identity.") and not name.startswith("app.identity.assembly.")
        for other in imported(name)
        if is_foreign_handler(name, other)
    }
    assert found == HANDLERS_OF_OTHERS


def test_handlers_are_in_the_packages_of_operations() -> None:
    """The packages below have rules alone."""
    packages = {"administration", "pages_api", "protocols", "public_api"}
    below = {
        "/".join(path.parts[3:])
        for path in sources.under("app")
        if path.parts[1] == "identity" and path.parts[2] not in packages and implements(path)
    }
    assert below == set()


def is_foreign_handler(importing: str, module: str) -> bool:
    """Return whether a module has handlers and is neither in the folder of the importing one nor above it."""
    folder, _, name = module.rpartition(".")
    has_handlers = name.endswith("_handlers") or (module in modules() and implements(modules()[module]))
    return has_handlers and module.startswith("app.identity.") and not importing.startswith(f"{folder}.")


def implements(path: Path) -> bool:
    """Return whether a module has the function of an operation."""
    return re.search(r"^@\S+\.implements$", sources.text(path), re.MULTILINE) is not None


def test_no_page_imports_a_page() -> None:
    """Pages share forms and components; the journey chooses the next page."""
    pages = {name: path for name, path in modules().items() if name.startswith("app.hub.pages.")}
    with_views = {name for name, path in pages.items() if any(map(is_view, sources.functions(path)))}
    assert len(with_views) > 50
    found = {name: sorted({*imported(name)} & with_views - {name}) for name in pages}
    assert {name: others for name, others in found.items() if others} == {}


def is_view(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    calls = [item.func for item in function.decorator_list if isinstance(item, ast.Call)]
    routes = [ast.unparse(call.value) for call in calls if isinstance(call, ast.Attribute)]
    names = [call.id for call in calls if isinstance(call, ast.Name)]
    return not {"pages", "account_page"}.isdisjoint([*routes, *names])


def test_no_text_of_a_section_stands_twice() -> None:
    """`app/contract/published/texts.py` merges the files by section and table: of two texts with one name, one would be lost."""
    places = defaultdict(list)
    for path in sources.under("app", suffix=".toml"):
        if path.name.endswith("texts.toml"):
            for name in merged_names(tomllib.loads(sources.text(path))):
                places[name].append(str(path))
    assert len(places) > 1_000
    assert {name: paths for name, paths in places.items() if len(paths) > 1} == {}


def merged_names(sections: dict[str, dict[str, Any]]) -> Iterator[tuple[str, ...]]:
    """Yield section, table and name of each text of a file; a text that is in no table has no name."""
    for section, tables in sections.items():
        for table, texts in tables.items():
            yield from [(section, table, name) for name in texts] if isinstance(texts, dict) else [(section, table)]


def test_no_import_renames_a_module() -> None:
    """A module has the name of its file wherever it is used; modules of tests have many equal ones."""
    renamed = {
        f"{importing}: {module}"
        for importing, path in modules().items()
        for module, name in module_imports(path)
        if name != (own := module.rpartition(".")[2]) and not own.startswith("test_")
    }
    assert renamed == RENAMED.keys()


@pytest.mark.parametrize(("wing", "exceptions"), [("app.hub", {}), ("app.identity", TWO_MODULES)])
def test_no_two_imported_modules_have_one_name(wing: str, exceptions: dict[str, str]) -> None:
    named = defaultdict(set)
    for module, alias in names_of(wing):
        named[alias].add(module)
    assert {alias: found for alias, found in named.items() if len(found) > 1}.keys() == exceptions.keys()


def test_no_file_imports_a_module_under_two_names() -> None:
    found: dict[str, set[str]] = {}
    for importing, path in modules().items():
        aliases = defaultdict(set)
        for module, alias in module_imports(path):
            aliases[module].add(alias)
        found |= {f"{importing}: {module}": names for module, names in aliases.items() if len(names) > 1}
    assert found == {}


@cache
def modules() -> dict[str, Path]:
    """Return the modules of the product, the tests and the tools, by dotted name."""
    paths = sources.under("app", "tests", "tools")
    return {".".join(path.with_suffix("").parts).removesuffix(".__init__"): path for path in paths}


def imported(name: str) -> Iterator[str]:
    """Yield the modules that a module imports: `from a import b` means the module a.b, or else a."""
    for imported_name in sources.imports(modules()[name]):
        parent = imported_name.rpartition(".")[0]
        yield from [item for item in (imported_name, parent) if item in modules()][:1]


def imported_names(tree: ast.Module) -> set[str]:
    imports = [node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)]
    return {(name.asname or name.name).partition(".")[0] for node in imports for name in node.names}


def owners(node: ast.Assign | ast.AnnAssign | ast.AugAssign) -> set[str]:
    """Return the names whose attributes or members the statement sets."""
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    parts = [part for target in targets for part in syntax.nodes(target)]
    inner = [part.value for part in parts if isinstance(part, ast.Attribute | ast.Subscript)]
    return {item.id for item in inner if isinstance(item, ast.Name)}


def names_of(wing: str) -> Iterator[tuple[str, str]]:
    """Yield each import of a module of this package with the name that it gets."""
    for path in modules().values():
        yield from ((module, name) for module, name in module_imports(path) if module.startswith(wing))


def module_imports(path: Path) -> Iterator[tuple[str, str]]:
    """Yield each module that `from a import b as c` imports, with its name in the file."""
    for node in sources.nodes(path):
        if isinstance(node, ast.ImportFrom) and node.module:
            names = [(f"{node.module}.{item.name}", item.asname or item.name) for item in node.names]
            yield from (item for item in names if item[0] in modules())
