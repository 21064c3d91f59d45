"""The language of templates of tenants: an allow-list over Jinja's syntax tree, which makes them finite.

A template has markup, values, parts, conditions and loops over lists of its view, two deep. It calculates nothing, stores nothing
and includes nothing, so its output is at most its own size times the lists and parts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from jinja2 import TemplateSyntaxError, nodes
from jinja2.sandbox import ImmutableSandboxedEnvironment

from app.kit.near_names import near_name
from app.kit.templating.blocks import Blocks
from app.kit.templating.contract import (
    NO_EFFECTS,
    ClassEffects,
    Items,
    TemplateContract,
    TemplateProblem,
    Value,
    ValueKind,
    part_of_flag,
)
from app.kit.templating.markup import MarkupReader
from app.kit.templating.page_markup import PAGE
from app.kit.text.tenant_texts import placeholders_of

MAX_BYTES: Final = 16 * 1024
MAX_TAGS: Final = 300
MAX_PROBLEMS: Final = 50
"""Reported at once for a template."""
FILTERS: Final = frozenset({"upper", "lower", "title", "capitalize"})
MAX_LOOPS: Final = 2
MAX_NESTING: Final = 20
MAX_PARTS: Final = 8
_REFUSED: Final[Mapping[type[nodes.Node], str]] = {
    nodes.Assign: "no {% set %}: a template stores nothing",
    nodes.AssignBlock: "no {% set %}: a template stores nothing",
    nodes.Macro: "no {% macro %}: write the markup where it stands",
    nodes.Include: "no {% include %}: a template is one file",
    nodes.Import: "no {% import %}: a template is one file",
    nodes.FromImport: "no {% from %}: a template is one file",
    nodes.Extends: "no {% extends %}: the file replaces the built-in one, or its blocks",
    nodes.Block: "no {% block %} here: a layout has none, and those of a page stand beside each other",
    nodes.CallBlock: "no {% call %}",
    nodes.FilterBlock: "no {% filter %}",
    nodes.With: "no {% with %}",
    nodes.Scope: "no {% autoescape %}: values are always escaped",
}
IsText = Callable[[str], bool]
"""Returns whether a template may show the text of a key."""


def parser() -> ImmutableSandboxedEnvironment:
    """Return the environment that reads and runs templates."""
    environment = ImmutableSandboxedEnvironment(autoescape=True, trim_blocks=True, lstrip_blocks=True, cache_size=0)
    environment.globals.clear()
    environment.tests.clear()
    environment.filters = {name: environment.filters[name] for name in FILTERS}
    return environment


def problems(
    source: str, contract: TemplateContract, is_text: IsText, effects: ClassEffects = NO_EFFECTS
) -> Sequence[TemplateProblem]:
    """Return why a template cannot be used, by line; nothing for one that can.

    Args:
        effects: of the theme's style sheet.
    """
    if (problem := _size_problem(source)) is not None:
        return [problem]
    if (line := _line_of_control(source)) is not None:
        return [TemplateProblem(line, "expected text without control characters")]
    try:
        tree = parser().parse(source)
        checker = _Checker(contract, is_text, effects)
        checker.template(tree)
    except TemplateSyntaxError as refused:
        return [TemplateProblem(refused.lineno, f"expected valid Jinja: {refused.message}")]
    except ValueError:  # Python refuses integers of thousands of digits
        return [TemplateProblem(1, "expected numbers of few digits; a template calculates nothing")]
    except RecursionError:
        return [TemplateProblem(1, f"expected at most {MAX_NESTING} levels within each other")]
    return sorted(set(checker.found))[:MAX_PROBLEMS]


def problems_of_blocks(
    source: str,
    split: Blocks,
    contracts: Mapping[str, TemplateContract],
    is_text: IsText,
    effects: ClassEffects = NO_EFFECTS,
) -> Iterator[TemplateProblem]:
    """Yield why a file of blocks cannot be used, by block and line.

    Args:
        contracts: that of each block that the file may have.
        is_text, effects: as for `problems`.
    """
    if (problem := _size_problem(source)) is not None:
        yield problem
        return
    yield from split.problems
    for name, (inner, line) in split.blocks.items():
        if name not in contracts:
            near = near_name(name, contracts)
            hint = f"; did you mean {near}?" if near else ""
            yield TemplateProblem(line, f"expected one of the blocks {', '.join(contracts)}; found {name}{hint}")
            continue
        for problem in problems(inner, contracts[name], is_text, effects):
            yield TemplateProblem(problem.line + line - 1, problem.sentence)


def _size_problem(source: str) -> TemplateProblem | None:
    if (size := len(source.encode("utf-8", "replace"))) > MAX_BYTES:
        return TemplateProblem(1, f"expected at most {MAX_BYTES // 1024} kB; found {size / 1024:.0f} kB")
    if (tags := source.count("{{") + source.count("{%")) > MAX_TAGS:  # each costs time when it is compiled
        return TemplateProblem(1, f"expected at most {MAX_TAGS} values and statements; found {tags:,}")
    return None


def _line_of_control(source: str) -> int | None:
    at = next((index for index, letter in enumerate(source) if letter < " " and letter not in "\n\r\t"), None)
    return None if at is None else source.count("\n", 0, at) + 1


def _is_word(node: nodes.Node) -> bool:
    return isinstance(node, nodes.Const) and isinstance(node.value, str | bool)


@dataclass(frozen=True)
class _Uses:
    """How often each part is placed: at least and at most, whatever the conditions are."""

    least: Counter[str] = field(default_factory=Counter)
    most: Counter[str] = field(default_factory=Counter)

    def then(self, other: _Uses) -> _Uses:
        return _Uses(self.least + other.least, self.most + other.most)

    def otherwise(self, other: _Uses) -> _Uses:
        return _Uses(self.least & other.least, self.most | other.most)


class _Checker:
    """Walks the syntax tree of one template."""

    def __init__(self, contract: TemplateContract, is_text: IsText, effects: ClassEffects) -> None:
        self.contract = contract
        self.is_text = is_text
        self.found: list[TemplateProblem] = []
        self._markup = MarkupReader(
            self._problem, effects, contract.dialect or PAGE, is_within_page=contract.is_within_page
        )
        self._loops: dict[str, Mapping[str, Value]] = {}
        """The lists' members by the name of their loop's variable."""

    def template(self, tree: nodes.Template) -> None:
        uses = self._body(tree.body, 0)
        self._markup.finish(1)
        for name, part in self.contract.parts.items():
            if uses.most[name] > 1:
                self._problem(1, f"{name}() at most once on each way through the conditions")
            instead = self.contract.instead.get(name, frozenset())
            if (
                part.is_required
                and name not in self.contract.newer
                and not any(uses.least[each] for each in (name, *instead))
            ):
                others = "".join(f", or {each}() in its place" for each in sorted(instead))
                self._problem(1, f"{{{{ {name}() }}}}{others}: {part.meaning}")
            elif any(uses.most[each] for each in instead) and uses.most[name]:
                self._problem(1, f"{name}() or {min(instead)}(), not both")

    def _problem(self, line: int, sentence: str) -> None:
        if len(self.found) < 4 * MAX_PROBLEMS:  # they are sorted by line afterwards
            self.found.append(TemplateProblem(line, f"expected {sentence}"))

    def _body(self, body: Iterable[nodes.Node], depth: int) -> _Uses:
        uses = _Uses()
        for node in body:
            uses = uses.then(self._statement(node, depth))
        return uses

    def _statement(self, node: nodes.Node, depth: int) -> _Uses:
        if depth > MAX_NESTING:
            self._problem(node.lineno, f"at most {MAX_NESTING} conditions within each other")
            return _Uses()
        if isinstance(node, nodes.Output):
            return self._output(node)
        if isinstance(node, nodes.If):
            return self._condition(node, depth)
        if isinstance(node, nodes.For):
            return self._loop(node, depth)
        self._problem(node.lineno or 1, _REFUSED.get(type(node), f"no {type(node).__name__.lower()}"))
        return _Uses()

    def _output(self, node: nodes.Output) -> _Uses:
        uses = _Uses()
        for part in node.nodes:
            if isinstance(part, nodes.TemplateData):
                self._markup.literal(part.data, part.lineno)
            elif isinstance(part, nodes.Call) and isinstance(part.node, nodes.Name) and part.node.name != "text":
                uses = uses.then(self._part(part, part.node.name))
            elif (kind := self._value(part)) is not None:
                self._markup.value(kind, part.lineno)
        return uses

    def _part(self, call: nodes.Call, name: str) -> _Uses:
        if name not in self.contract.parts:
            known = (*(f"{each}()" for each in self.contract.parts), 'text("key")')
            near = near_name(name, self.contract.parts)
            self._problem(
                call.lineno,
                f"one of {', '.join(known)}; found {name}()" + (f"; did you mean {near}()?" if near else ""),
            )
            return _Uses()
        if call.args or call.kwargs or call.dyn_args or call.dyn_kwargs:
            self._problem(call.lineno, f"{name}() without arguments")
        if self._loops:
            self._problem(call.lineno, f"{name}() outside of loops")
        self._markup.part(name, call.lineno)
        return _Uses(Counter([name]), Counter([name]))

    def _condition(self, node: nodes.If, depth: int) -> _Uses:
        ways = [(node.test, node.body, node.lineno), *((each.test, each.body, each.lineno) for each in node.elif_)]
        uses, empty = None, Counter[str]()
        for test, body, line in (*ways, (None, node.else_, node.lineno)):
            if test is not None:
                self._test(test, 0)
            with self._markup.branch(line):
                way = self._body(body, depth + 1).then(_Uses(least=empty))
            uses = way if uses is None else uses.otherwise(way)
            empty = empty + Counter(self._part_of(test))
        return uses or _Uses()

    def _part_of(self, test: nodes.Node | None) -> list[str]:
        """Return the part that is empty where a condition is false: `methods` of `{% if has_methods %}`."""
        part = part_of_flag(test.name, self.contract.parts.keys()) if isinstance(test, nodes.Name) else ""
        return [part] if part else []

    def _loop(self, node: nodes.For, depth: int) -> _Uses:
        items = self.contract.values.get(node.iter.name) if isinstance(node.iter, nodes.Name) else None
        if not isinstance(items, Items) or (isinstance(node.iter, nodes.Name) and node.iter.name in self._loops):
            lists = [name for name, value in self.contract.values.items() if isinstance(value, Items)]
            self._problem(node.lineno, f"a loop over a list of the view: {', '.join(lists) or 'it has none'}")
            return _Uses()
        if not isinstance(node.target, nodes.Name) or node.test is not None or node.recursive or node.else_:
            self._problem(node.lineno, "{% for NAME in LIST %} alone: without if, recursive and else")
            return _Uses()
        if len(self._loops) >= MAX_LOOPS:
            self._problem(node.lineno, f"at most {MAX_LOOPS} loops within each other")
            return _Uses()
        name = node.target.name
        if name in self.contract.values or name in self.contract.parts or name in self._loops or name == "text":
            self._problem(node.lineno, f"another name than {name}, which the view has")
            return _Uses()
        self._loops[name] = items.members
        with self._markup.branch(node.lineno, is_loop=True):
            self._body(node.body, depth + 1)
        del self._loops[name]
        return _Uses()

    def _value(self, node: nodes.Expr, depth: int = 0) -> ValueKind | None:
        """Return what an expression shows; None if it is refused."""
        if depth > MAX_PARTS:
            self._problem(node.lineno, f"at most {MAX_PARTS} filters and conditions in one value")
            return None
        if isinstance(node, nodes.Const) and isinstance(node.value, str):
            return ValueKind.TEXT
        if isinstance(node, nodes.Name | nodes.Getattr):
            value = self._named(node)
            if value is not None and value.kind is ValueKind.FLAG:
                self._problem(node.lineno, "a text to show: this value is for conditions")
                return None
            return value.kind if value is not None else None
        if isinstance(node, nodes.Call):
            return self._text(node)
        if isinstance(node, nodes.Filter) and node.node is not None:
            if node.name not in FILTERS or node.args or node.kwargs or node.dyn_args or node.dyn_kwargs:
                self._problem(
                    node.lineno,
                    f"one of the filters {', '.join(sorted(FILTERS))}, without arguments; found {node.name}",
                )
                return None
            return ValueKind.TEXT if self._value(node.node, depth + 1) is not None else None
        if isinstance(node, nodes.CondExpr) and node.expr2 is not None:
            self._test(node.test, 0)
            kinds = {self._value(node.expr1, depth + 1), self._value(node.expr2, depth + 1)}
            return None if None in kinds else ValueKind.TEXT
        self._problem(node.lineno, "a value of the view, a part or a text; a template calculates nothing")
        return None

    def _named(self, node: nodes.Name | nodes.Getattr) -> Value | None:
        """Return the value of a name of the view, or of a member of a loop's item."""
        members: Mapping[str, Value | Items]
        if isinstance(node, nodes.Getattr) and isinstance(node.node, nodes.Name) and node.node.name in self._loops:
            members, name = self._loops[node.node.name], node.attr
            within = f"{node.node.name}."
        elif isinstance(node, nodes.Name):
            members, name, within = self.contract.values, node.name, ""
        else:
            self._problem(node.lineno, "a name of the view, or a member of a loop's item")
            return None
        value = members.get(name)
        if isinstance(value, Value):
            return value
        near = near_name(name, [key for key, each in members.items() if isinstance(each, Value)])
        hint = f"; did you mean {within}{near}?" if near else f": {', '.join(within + key for key in members)}"
        self._problem(node.lineno, f"a value of the view; found {within}{name}{hint}")
        return None

    def _text(self, node: nodes.Call) -> ValueKind | None:
        is_text = isinstance(node.node, nodes.Name) and node.node.name == "text"
        key = node.args[0] if len(node.args) == 1 else None
        if not is_text or node.dyn_args or node.dyn_kwargs:
            self._problem(node.lineno, 'parts alone between {{ and }}, and texts as text("key")')
            return None
        if not isinstance(key, nodes.Const) or not isinstance(key.value, str):
            self._problem(node.lineno, 'a key in quotes: text("key")')
            return None
        if not self.is_text(key.value):
            self._problem(
                node.lineno,
                f"the key of a text without plural forms, or of a text of the theme that begins with own.; found {key.value}",
            )
            return None
        return ValueKind.TEXT if self._has_placeholders(node, key.value) else None

    def _has_placeholders(self, node: nodes.Call, key: str) -> bool:
        """Check the values of a text's placeholders: `text("sign_in_to_name", name=application)`."""
        wanted, given = placeholders_of(key), [each.key for each in node.kwargs]
        if sorted(given) != sorted(wanted):
            shown = ", ".join(f"{name}=…" for name in wanted)
            self._problem(
                node.lineno, f"text({key!r}{', ' if shown else ''}{shown}), with a value for each placeholder"
            )
            return False
        return all(self._value(each.value, 1) is not None for each in node.kwargs)

    def _test(self, node: nodes.Node, depth: int) -> None:
        """Check a condition: names, not, and, or, and comparisons of a name with a word."""
        if depth > MAX_NESTING:
            self._problem(node.lineno, f"at most {MAX_NESTING} levels of a condition")
        elif isinstance(node, nodes.Not):
            self._test(node.node, depth + 1)
        elif isinstance(node, nodes.And | nodes.Or):
            self._test(node.left, depth + 1)
            self._test(node.right, depth + 1)
        elif isinstance(node, nodes.Compare):
            self._comparison(node)
        elif isinstance(node, nodes.Name | nodes.Getattr):
            self._named(node)
        else:
            self._problem(node.lineno, "a condition of names, not, and, or, == and !=")

    def _comparison(self, node: nodes.Compare) -> None:
        operand = node.ops[0] if len(node.ops) == 1 else None
        is_plain = operand is not None and operand.op in ("eq", "ne") and _is_word(operand.expr)
        if not is_plain or not isinstance(node.expr, nodes.Name | nodes.Getattr):
            self._problem(node.lineno, 'a comparison of one name with one word: name == "word"')
            return
        self._named(node.expr)
