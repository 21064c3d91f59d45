"""The inside of each part as we draw it, as a template of a theme: where a designer begins (docs/theme-contract.md)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

OUR_BODIES: Final[Mapping[str, str]] = {
    "macros/field.html": """\
<div class="top">{% if has_beside %}<span>{{ label() }} {{ beside() }}</span>{% else %}{{ label() }}{% endif %}{{ problem() }}</div>
{{ control() }}
{{ hint() }}
""",
    "macros/password.html": """\
<div class="top">{{ label() }}{{ problem() }}</div>
{{ control() }}
{{ hint() }}
{% if has_beside %}
<div class="beside">{{ beside() }}</div>
{% endif %}
{{ rules() }}
""",
    "macros/checkbox.html": """\
{{ control() }}<span>{{ label() }}</span>
""",
    "macros/button.html": """\
{{ label() }}
""",
    "macros/method.html": """\
{{ mark() }}{{ label() }}{{ tag() }}
""",
    "macros/row.html": """\
{{ icon() }}<span class="what"><span>{{ label() }}</span>{% if has_hint %}<small>{{ hint() }}</small>{% endif %}</span>
{{- tag() }}{{ arrow() }}
""",
    "macros/chip.html": """\
{{ face() }}{{ name() }}{{ change() }}
""",
    "macros/notice.html": """\
{{ mark() }}
<div>
{{ message() }}{{ problems() }}
</div>
""",
    "macros/summary.html": """\
<span>{{ message() }} {{ problems() }}</span>
""",
}
"""By the name of the file below `templates/`. A theme with these files has our pages."""
