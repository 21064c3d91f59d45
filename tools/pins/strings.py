"""Reads from the source which strings of the code are stored, signed, logged or known to operators."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from tools import syntax

Lines = dict[str, list[str]]

ROOT = Path(__file__).resolve().parents[2]
_LOGGED = {"debug", "info", "warning", "error", "exception"}
_METRICS = {"Counter", "Gauge", "Histogram", "GaugeMetricFamily", "CounterMetricFamily"}
_LIMITS = {"count_against", "refuse_over_limit", "spend", "_count_message", "count_code_request"}
_KEY_USES = {"get", "pop", "setdefault"}
_DERIVING = {"derive", "derive_key"}
_SEALING = {"seal", "open", "encrypt", "decrypt"}
_CONTEXT_FUNCTION = re.compile(r"context$|associated_data$")
STORED_CLASSES = {
    "CheckedRequest", "PendingVerification", "ProviderIdentity", "HandoffRequest", "Identity", "Manifest", "PendingRecovery",
    "PendingIdentity", "PendingPasswordless", "Authentication", "TokenClaims", "InteractionState", "InteractionEnding",
    "WaitingPage", "ShownQrCode", "JwtRequest",
}  # fmt: skip
"""The classes whose fields are written as JSON into tables, cookies and backups. Follow a rename of the class here."""
_SEARCHED = ast.Call, ast.Constant, ast.JoinedStr, ast.FunctionDef, ast.ClassDef, ast.Dict, ast.Subscript
_EVENT = re.compile(r"\{?\w*\}?[a-z_]*\.[\w{}]+")
_KEY = re.compile(r"[A-Za-z][\w.:-]*")
_CONTEXT = re.compile(r"(\{\} )?[a-z][a-z_]*( [a-z_]+)*( \{\})*")


def read(root: Path = ROOT) -> dict[str, Lines]:
    """Return the strings by section. A string that is put together is written with `{}` where a value stands."""
    parsed = {path: ast.parse(path.read_text(encoding="utf-8")) for path in sorted((root / "app").rglob("*.py"))}
    nodes = {path: _searched(tree) for path, tree in parsed.items()}
    trees = [node for found in nodes.values() for node in found]
    texts = set(map(_text, trees))
    of_identity = [
        path for path in nodes if path.is_relative_to(root / "app/identity") and "versions" not in path.parts
    ]
    identity = [node for path in of_identity for node in nodes[path]]
    enumerations = [
        *identity,
        *(node for path in nodes if path.is_relative_to(root / "app/contract") for node in nodes[path]),
    ]
    return {
        "audit events and their facts": _events(trees),
        "log events": _words(_firsts(trees, _LOGGED, lambda text: bool(_EVENT.fullmatch(text)))),
        "loggers": _words(_firsts(trees, {"getLogger"})),
        "metrics": _words(_firsts(trees, _METRICS, lambda text: text.startswith("gatehouse_"))),
        "environment": _words(_matching(texts, r"(GATEHOUSE_[A-Z_]+|UPDATE_[A-Z_]+)")),
        "cookies": _words(_matching(texts, r"gatehouse-[a-z-]+")),
        "headers": _words(_matching(texts, r"[Xx]-[Gg]atehouse-[\w-]+")),
        "key derivation": _words(_arguments(trees, _DERIVING, 1)),
        "encryption contexts": _words(_contexts(trees)),
        "limits": _words(_firsts(trees, _LIMITS)),
        "interface events": _words(_arguments(trees, {"emit"}, 1)),
        "values of enumerations": _words(_enumerations(enumerations)),
        "fields of stored classes": _words(_stored_classes(identity)),
        "text constants of the identity service": _words(_constants([parsed[path] for path in of_identity])),
        "keys of stored values and claims": _words(_keys(identity)),
    }


def _searched(tree: ast.Module) -> list[ast.AST]:
    """Return the nodes that any section looks at, a third of all."""
    return [node for node in syntax.nodes(tree) if isinstance(node, _SEARCHED)]


def _words(found: Iterable[str]) -> Lines:
    return {text: [] for text in sorted(set(found)) if text}


def _text(node: ast.AST) -> str:
    """Return the text of a string or an f-string; empty for anything else."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else ""
    if isinstance(node, ast.JoinedStr):
        return "".join(str(part.value) if isinstance(part, ast.Constant) else "{}" for part in node.values)
    return ""


def _calls(nodes: Iterable[ast.AST]) -> Iterator[tuple[str, ast.Call]]:
    for node in nodes:
        if isinstance(node, ast.Call):
            called = node.func
            yield called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", ""), node


def _arguments(nodes: list[ast.AST], functions: set[str], place: int) -> Iterator[str]:
    return (_text(call.args[place]) for name, call in _calls(nodes) if name in functions and len(call.args) > place)


def _firsts(nodes: list[ast.AST], functions: set[str], is_one: Callable[[str], bool] = bool) -> Iterator[str]:
    """Yield the first string among the arguments of these functions."""
    for name, call in _calls(nodes):
        text = next((text for text in map(_text, call.args) if text), "") if name in functions else ""
        if text and is_one(text):
            yield text


def _events(nodes: list[ast.AST]) -> Lines:
    """Return the events that `record` is given, each with the names of its facts."""
    found: dict[str, set[str]] = {}
    for name, call in _calls(nodes):
        event = _text(call.args[0]) if name == "record" and call.args else ""
        if event:
            found.setdefault(event, set()).update(word.arg for word in call.keywords if word.arg)
    return {event: sorted(facts) for event, facts in sorted(found.items())}


def _matching(texts: Iterable[str], pattern: str) -> Iterator[str]:
    return filter(re.compile(pattern).fullmatch, texts)


def _contexts(nodes: list[ast.AST]) -> Iterator[str]:
    """Yield what the functions of `_CONTEXT_FUNCTION` return and what those of `_SEALING` are given in place."""
    for node in nodes:
        if isinstance(node, ast.FunctionDef) and _CONTEXT_FUNCTION.search(node.name):
            yield from (text for text in map(_text, ast.walk(node)) if "{}" in text)
    for name, call in _calls(nodes):
        if name in _SEALING and len(call.args) == 2:
            yield from (text for text in [_text(call.args[1])] if _CONTEXT.fullmatch(text) or text == "{} {}")


def _keys(nodes: list[ast.AST]) -> Iterator[str]:
    """Yield the string keys by which dictionaries of the identity service are written and read."""
    for node in nodes:
        found: list[ast.expr | None] = []
        if isinstance(node, ast.Dict):
            found = node.keys
        elif isinstance(node, ast.Subscript):
            found = [node.slice]
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _KEY_USES:
            found = list(node.args[:1])
        yield from (text for text in (_text(key) for key in found if key) if _KEY.fullmatch(text))


def _enumerations(nodes: list[ast.AST]) -> Iterator[str]:
    """Yield the values of each enumeration of texts, joined."""
    for node in nodes:
        if isinstance(node, ast.ClassDef) and any("Enum" in ast.unparse(base) for base in node.bases):
            values = [_text(item.value) for item in node.body if isinstance(item, ast.Assign)]
            yield " | ".join(sorted(filter(None, values)))


def _stored_classes(nodes: list[ast.AST]) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, ast.ClassDef) and node.name in STORED_CLASSES:
            fields = [
                _stored_name(item.annotation) or item.target.id
                for item in node.body
                if isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name)
            ]
            yield " ".join(sorted(fields))


def _stored_name(annotation: ast.expr) -> str:
    """Return the alias of a field that is stored by another name; empty without one."""
    words = (word for node in ast.walk(annotation) if isinstance(node, ast.Call) for word in node.keywords)
    return next((_text(word.value) for word in words if word.arg == "alias"), "")


def _constants(trees: list[ast.Module]) -> Iterator[str]:
    """Yield the short texts that names in capitals stand for, of modules and classes, tuples included."""
    for tree in trees:
        for node in (
            *tree.body,
            *(item for found in tree.body if isinstance(found, ast.ClassDef) for item in found.body),
        ):
            targets = (
                node.targets
                if isinstance(node, ast.Assign)
                else [node.target]
                if isinstance(node, ast.AnnAssign)
                else []
            )
            names = [name.id for target in targets for name in ast.walk(target) if isinstance(name, ast.Name)]
            value = node.value if isinstance(node, ast.Assign | ast.AnnAssign) else None
            if value is not None and names and all(name.strip("_").isupper() for name in names):
                parts = value.elts if isinstance(value, ast.Tuple) else [value]
                yield from (text for text in map(_text, parts) if re.fullmatch(r"[A-Za-z][\w .:-]{0,40}", text))
