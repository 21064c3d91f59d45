"""`app/README.md` names every package, and only existing paths; references to decisions resolve."""

import ast
import io
import re
import tokenize
from collections.abc import Iterable, Iterator
from pathlib import Path

from tests.support import sources

MAP = Path("app/README.md")
APP = sources.ROOT / "app"
BOUND_BY_THE_MAP = ("app", "app/hub", "app/identity")
SECTIONS = {"The hub": "hub", "The identity service": "identity"}
DECISIONS = re.compile(r"\b[Dd]ecisions?[/ ](\d{4}(?:(?:, | and )\d{4})*)")
MODULES = re.compile(r"(?<![\w./*-])[\w/-]*\w\.py\b")
DOCUMENTS = re.compile(r"(?<![\w./*-])[\w/.-]*\w\.md\b")


def sections() -> dict[str, str]:
    """Return the text of each section of the map, by its heading."""
    head, *rest = re.split(r"^## ", sources.text(MAP), flags=re.MULTILINE)
    return {"The map": head, **{part.partition("\n")[0]: part for part in rest}}


def named(section: str) -> list[str]:
    """Return the paths in code marks."""
    return [name for name in re.findall(r"`([\w./]+)`", sections()[section]) if name.endswith(("/", ".py"))]


def packages() -> list[tuple[str, list[str]]]:
    """Return each package of the table with the folders that its row names."""
    text = sections()["The identity service"]
    found = re.findall(r"^\| `(\w+)/` \|(.*)\|$", text, re.MULTILINE)
    return [(package, re.findall(r"`(\w+)/`", content)) for package, content in found]


def test_every_path_of_the_map_exists() -> None:
    folders = [APP / "identity" / package for package, _ in packages()]
    roots = [APP, APP / "hub", APP / "identity", APP / "kit", *folders, APP / "identity/protocols/oauth", sources.ROOT]
    parts_of_areas = {"accounts.py", "account_store.py", "tables.py"}
    names = {name for section in sections() for name in named(section)} - parts_of_areas
    assert sorted(name for name in names if not any((root / name).exists() for root in roots)) == []


def test_every_folder_in_a_row_is_in_that_package() -> None:
    deeper = {"authorize", "client_authentication", "grants"}
    lost = [
        f"{package}/{folder}"
        for package, nested in packages()
        for folder in {*nested} - deeper
        if not (APP / "identity" / package / folder).is_dir()
    ]
    assert lost == []


def test_every_package_is_on_the_map() -> None:
    text = sources.text(MAP)
    missing = [
        f"{place}/{folder}"
        for place in BOUND_BY_THE_MAP
        for folder in folders_of(sources.ROOT / place)
        if f"`{folder}/`" not in text
    ]
    assert missing == []


def test_packages_are_in_the_order_of_the_contract() -> None:
    layers = re.search(
        r'containers = \["app\.identity"\]\nlayers = \[(.*?)\]', sources.text(Path("pyproject.toml")), re.DOTALL
    )
    assert layers is not None
    assert [package for package, _ in packages()] == re.findall(r"\w+", layers[1])


def folders_of(path: Path) -> list[str]:
    """Return the packages in a folder."""
    return [folder.name for folder in path.iterdir() if (folder / "__init__.py").exists()]


def test_every_reference_to_a_decision_exists() -> None:
    numbers = {path.name[:4] for path in sources.files() if path.match("app/decisions/*/*.md")}
    readable = [
        path for path in sources.files() if path.suffix in {".py", ".md", ".toml", ".html", ".js", ".yaml", ".sh"}
    ]
    lost = [
        f"{path}: {number}"
        for path in readable
        for listed in DECISIONS.findall(sources.text(path))
        for number in re.findall(r"\d{4}", listed)
        if number not in numbers
    ]
    assert lost == []


def test_decisions_have_one_number_and_one_title_each() -> None:
    decisions = [path for path in sources.files() if path.match("app/decisions/*/*.md")]
    numbers = [path.name[:4] for path in decisions]
    assert sorted(set(numbers)) == sorted(numbers)
    titles = {str(path): sources.text(path).partition("\n")[0] for path in decisions}
    assert {path: title for path, title in titles.items() if file_name(title) != Path(path).name} == {}


def file_name(title: str) -> str:
    """Return the name of the file of a decision: its number and the words of its title."""
    words = re.sub(r"[`'’,]", "", title.removeprefix("# ").lower())
    return re.sub(r"[^a-z0-9]+", "-", words).strip("-") + ".md"


def test_glossary_has_at_most_25_terms() -> None:
    terms = re.findall(r"^\| \*\*([\w -]+)\*\* \|", sources.text(Path("app/GLOSSARY.md")), re.MULTILINE)
    assert 0 < len(terms) <= 25
    assert sorted(set(terms)) == sorted(terms)


def test_every_module_in_comments_and_docstrings_exists() -> None:
    """A `name.py`, with or without folders, is the end of a path of the repository."""
    assert lost(MODULES, ((path, text) for path in sources.under("app") for text in prose(path))) == []


def test_every_document_in_comments_and_docstrings_exists() -> None:
    """Comments and docstrings name no document outside the repository."""
    assert (
        lost(DOCUMENTS, ((path, text) for path in sources.under("app", "tests", "tools") for text in prose(path))) == []
    )


def test_every_document_in_decisions_exists() -> None:
    decisions = (path for path in sources.files() if path.match("app/decisions/*/*.md"))
    assert lost(DOCUMENTS, ((path, sources.text(path)) for path in decisions)) == []


def lost(names: re.Pattern[str], texts: Iterable[tuple[Path, str]]) -> list[str]:
    """Return the file names in texts that end no path of the repository."""
    known = {name for path in sources.files() for name in tails(path)}
    return [f"{path}: {name}" for path, text in texts for name in names.findall(text) if name not in known]


def prose(path: Path) -> list[str]:
    return [*comments(sources.text(path)), *docstrings(path)]


def tails(path: Path) -> list[str]:
    """Return the path without each number of its first folders."""
    return ["/".join(path.parts[start:]) for start in range(len(path.parts))]


def comments(text: str) -> Iterator[str]:
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    return (token.string for token in tokens if token.type == tokenize.COMMENT)


def docstrings(path: Path) -> Iterator[str]:
    """Yield the strings that are statements: docstrings, also of attributes."""
    for node in sources.nodes(path):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            yield node.value.value
