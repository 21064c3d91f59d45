"""Writes docs/configuration.md, its schema, that of answers to workflows and tables of other pages of docs/ from the code.

python -m tools.configuration          write them
python -m tools.configuration --check  fail where they differ
"""

import ast
import json
import re
import sys
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from app.contract.messages.models import MailKind
from app.contract.published.configuration_texts import EXAMPLES
from app.contract.tenants.file import json_schema
from app.contract.workflows.http_calls import answer_schema
from app.identity.messaging.tenant_templates import allowed_html
from app.identity.messaging.tenant_templates.placeholders import EMAIL_RULES, SMS_RULES, PlaceholderRule
from app.kit.package_files import HOME as ROOT
from app.kit.text.typography import typographic
from tools.theme_bounds import bounds_table, css_table

THEMING_PAGE = ROOT / "docs" / "theming.md"
TEMPLATES_PAGE = ROOT / "docs" / "mail-templates.md"
ANSWER_SCHEMA = ROOT / "docs" / "workflow-answer.schema.json"
PAGE, SCHEMA = ROOT / "docs" / "configuration.md", ROOT / "docs" / "configuration.schema.json"
_MAX_EXAMPLE_LENGTH = 120
_NAMES = {"shows_cost": "COST", "secrets": "SECRET_KEY"}
_FILE = "A file with the value of `{}`, in place of that variable."
HEAD = """# Configuration reference

<!-- Written by `python -m tools.configuration` from the models and from `app/settings.py`: change those. -->

Two places configure Gatehouse: the environment, for the installation, and a file, for its tenants.

## The environment

Gatehouse reads these variables when it starts. If two of them contradict each other, it prints the reason and doesn't start.

| Variable | Meaning | Example |
| --- | --- | --- |
"""
FILE_HEAD = """
## The configuration file

The file describes tenants, their applications and everything else below. Apply it with `gatehouse apply FILE.yaml`; with `--dry-run`,
Gatehouse shows what would change. For completion in your editor, put
`# yaml-language-server: $schema=configuration.schema.json` into the first line: `gatehouse schema` prints
[that schema](configuration.schema.json).

- The file sets the values that it names. Remove a setting from the file, and the next `apply` resets it to its default.
- Settings that only the management API has set stay as they are. `--dry-run` lists them.
- A key of the tenant that the file doesn't have, such as `applications`, is left alone.
- Existing passwords, keys and secrets are never overwritten. If the file has none, Gatehouse generates them and prints them once.
- Nothing is deleted without `--prune`. With it, `apply` deletes applications and templates that the file doesn't have, and accounts
  that an earlier file created.
- `theme` names a folder with `theme.yaml`, which has the keys of `brand`, and with the logo.
- The file is YAML without anchors, aliases and tags. Only `true` and `false` are booleans.
"""


def main() -> None:
    schemas = {SCHEMA: json_schema(), ANSWER_SCHEMA: answer_schema()}
    written = {path: json.dumps(schema, indent=2) + "\n" for path, schema in schemas.items()}
    tables = {
        TEMPLATES_PAGE: {"placeholders": placeholder_table(), "html": html_table()},
        THEMING_PAGE: {"bounds": typographic(bounds_table()), "css-bounds": typographic(css_table())},
    }
    made = {PAGE: page(), **{path: with_tables(path, made) for path, made in tables.items()}, **written}
    if "--check" not in sys.argv:
        for path, text in made.items():
            path.write_text(text)
        return
    stale = [
        str(path.relative_to(ROOT)) for path, text in made.items() if not path.exists() or path.read_text() != text
    ]
    if stale:
        sys.exit(f"{', '.join(stale)}: not what the models say; run 'python -m tools.configuration'.")


def page() -> str:
    schema = json_schema()
    parts = [typographic(HEAD), *(variable.row for variable in variables()), typographic(FILE_HEAD)]
    order = [
        "ConfigurationFile",
        "TenantFile",
        "TenantSettings",
        "Lockout",
        "PasswordPolicy",
        "RequestLimits",
        "Argon2",
        "Brand",
    ]
    order += ["ApplicationFile", "AccountFile"]
    models = {"ConfigurationFile": schema, **schema["$defs"]}
    parts += [section(name, models[name]) for name in [*order, *sorted(set(models) - set(order))]]
    return "".join(parts)


def with_tables(page: Path, tables: Mapping[str, str]) -> str:
    """Return a page with its tables as the code has them."""
    text = page.read_text()
    for name, written in tables.items():
        before, begins, rest = text.partition(f"<!-- {name}: written by tools.configuration -->")
        _, ends, after = rest.partition(f"<!-- end of {name} -->")
        if not (begins and ends):
            sys.exit(f"{page.name}: the marks around its table of {name} are gone.")
        text = f"{before}{begins}\n{written}{ends}{after}"
    return text


def html_table() -> str:
    prefixes = [f"{prefix}…" for prefix in allowed_html.ATTRIBUTE_PREFIXES]
    rows = {
        "Elements": sorted(allowed_html.ELEMENTS),
        "Attributes": [*sorted(allowed_html.ATTRIBUTES), *prefixes],
        "`name` of a `meta`": sorted(allowed_html.META_NAMES),
        "`http-equiv` of a `meta`": sorted(allowed_html.META_HEADERS),
        "Elements in conditional comments, too": allowed_html.OFFICE_ELEMENTS.values(),
        "Attributes in conditional comments, too": [*sorted(allowed_html.OFFICE_ATTRIBUTES), "o:…", "v:…"],
    }
    lines = [f"| {name} | {' '.join(f'`{item}`' for item in names)} |" for name, names in rows.items()]
    return "| What the HTML may have | |\n| --- | --- |\n" + "\n".join(lines) + "\n"


def placeholder_table() -> str:
    common = [
        placeholder
        for placeholder in EMAIL_RULES[MailKind.WELCOME].placeholders
        if all(placeholder in rule.placeholders for rule in EMAIL_RULES.values())
    ]
    rows = [f"| every email | {_listed(common)} | |"]
    for kind, rule in EMAIL_RULES.items():
        rows.append(
            f"| email `{kind}` | {_listed(placeholder for placeholder in rule.placeholders if placeholder not in common)} | {_must(rule)} |"
        )
    rows += [
        f"| text message `{kind}` | {_listed(rule.placeholders)} | {_must(rule)} |" for kind, rule in SMS_RULES.items()
    ]
    return "| Type | Can have | Must have |\n| --- | --- | --- |\n" + "\n".join(rows) + "\n"


def _listed(names: Iterable[str]) -> str:
    return " ".join(f"`#{name}#`" for name in names)


def _must(rule: PlaceholderRule) -> str:
    words = {"link": "`#Url#` or `#GUID#`", "otp": "`#OTP#`"}
    return " or ".join(words[item] for item in rule.may_carry if item in words)


def section(name: str, model: dict[str, Any]) -> str:
    rows = "".join(
        f"| `{key}` | {kind(item)} | {default(key, item, model)} | {example(item)} | {_sentence(item)} |\n"
        for key, item in model.get("properties", {}).items()
    )
    return f"\n### {name}\n\n{_sentence(model)}\n\n| Key | Kind | Default | Example | Meaning |\n| --- | --- | --- | --- | --- |\n{rows}"


def _sentence(schema: dict[str, Any]) -> str:
    return typographic(" ".join(str(schema.get("description", "")).split()))


def kind(schema: dict[str, Any]) -> str:
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return f"[{name}](#{name.lower()})"
    if kinds := schema.get("anyOf") or schema.get("oneOf"):
        return " or ".join(kind(item) for item in kinds if item.get("type") != "null")
    if "enum" in schema or "const" in schema:
        return ", ".join(f"`{value}`" for value in schema.get("enum", [schema.get("const")]))
    if schema.get("type") == "array":
        return f"list of {kind(schema.get('items', {}))}"
    if schema.get("type") == "object":
        values = [schema.get("additionalProperties"), *schema.get("patternProperties", {}).values()]
        named = [kind(value) for value in values if isinstance(value, dict) and "$ref" in value]
        return f"keys with {named[0]}" if named else "keys with values"
    words = {"string": "text", "boolean": "true, false", "integer": "whole number"}.get(
        str(schema.get("type")), "anything"
    )
    bounds = [schema[key] for key in ("minimum", "maximum") if key in schema]
    return f"{words}, {bounds[0]} to {bounds[1]}" if len(bounds) == 2 else words


def default(key: str, schema: dict[str, Any], model: dict[str, Any]) -> str:
    if key in model.get("required", ()):
        return "required"
    value = schema.get("default")
    if value is None or isinstance(value, dict):
        return ""
    return f"`{json.dumps(value, ensure_ascii=False)}`"


def example(schema: dict[str, Any]) -> str:
    """Return the example of a key as a file has it; none of a model with a table of its own, and none too long for a cell."""
    if "](#" in kind(schema):
        return ""
    if EXAMPLES not in schema:
        raise ValueError(f"No file_texts.toml has an example, in [examples], of this key: {schema}")
    text = json.dumps(schema[EXAMPLES][0], ensure_ascii=False)
    return f"`{text}`".replace("|", "\\|") if len(text) <= _MAX_EXAMPLE_LENGTH else ""


@dataclass(frozen=True)
class Variable:
    """A variable of the environment, with the docstring of the setting that it fills."""

    name: str
    words: str
    example: str

    @property
    def row(self) -> str:
        """Return its row of the table."""
        return f"| `{self.name}` | {typographic(self.words)} | `{self.example}` |\n"


def variables() -> list[Variable]:
    """Return the variables in the order in which the settings are declared."""
    source = (ROOT / "app" / "settings.py").read_text()
    settings = next(
        node for node in ast.parse(source).body if isinstance(node, ast.ClassDef) and node.name == "Settings"
    )
    examples = tomllib.loads((ROOT / "tools" / "environment_examples.toml").read_text())
    read = dict.fromkeys(re.findall(r"\"(GATEHOUSE_[A-Z_]+)\"", source))
    listed = []
    for field, after in zip(settings.body, settings.body[1:], strict=False):
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name):
            said = after.value.value if isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant) else ""
            name = f"GATEHOUSE_{_NAMES.get(field.target.id, field.target.id.upper())}"
            listed.append(Variable(name, " ".join(str(said).split()), examples.get(name, "")))
    known = {item.name for item in listed}
    files = [name for name in read if name.removesuffix("_FILE") in known - {name}]
    listed += [Variable(name, _FILE.format(name.removesuffix("_FILE")), examples.get(name, "")) for name in files]
    return [*listed, *(Variable(name, "", "") for name in read if name not in known | set(files))]


if __name__ == "__main__":
    main()
