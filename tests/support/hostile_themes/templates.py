"""Templates that leave the sandbox, run long or become large."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from tests.support.hostile_themes.hostile_theme import LOGIN, WHOLE, HostileTheme, in_lead

# fmt: off
TEMPLATES: Final[Mapping[str, HostileTheme]] = {
    # What leaves the sandbox
    "class of a value": HostileTheme(
        in_lead("{{ name.__class__.__mro__ }}"),
        problem="templates/pages/sign_in/login.html:2: expected a name of the view, or a member of a loop's item",
    ),
    "subclasses of a constant": HostileTheme(
        in_lead("{{ ''.__class__.__base__.__subclasses__() }}"),
        problem='templates/pages/sign_in/login.html:2: expected parts alone between {{ and }}, and texts as text("key")',
    ),
    "attribute by subscript": HostileTheme(
        in_lead("{{ name['__class__'] }}"),
        problem="templates/pages/sign_in/login.html:2: expected a value of the view, a part or a text; a template",
    ),
    "attribute by filter": HostileTheme(
        in_lead("{{ name|attr('__init__') }}"),
        problem="templates/pages/sign_in/login.html:2: expected one of the filters capitalize, lower, title, upper,",
    ),
    "globals of a part": HostileTheme(
        in_lead("{{ super.__globals__ }}"),
        problem="templates/pages/sign_in/login.html:2: expected a name of the view, or a member of a loop's item",
    ),
    "result of a part": HostileTheme(
        in_lead("{{ super().__class__ }}"),
        problem="templates/pages/sign_in/login.html:2: expected a name of the view, or a member of a loop's item",
    ),
    "code of text": HostileTheme(
        in_lead("{{ text.__code__ }}"),
        problem="templates/pages/sign_in/login.html:2: expected a name of the view, or a member of a loop's item",
    ),
    "function itself": HostileTheme(
        in_lead("{{ text }}"),
        problem="templates/pages/sign_in/login.html:2: expected a value of the view",
    ),
    "lipsum": HostileTheme(
        in_lead("{{ lipsum.__globals__['os'].popen('id').read() }}"),
        problem='templates/pages/sign_in/login.html:2: expected parts alone between {{ and }}, and texts as text("key")',
    ),
    "cycler": HostileTheme(
        in_lead("{{ cycler.__init__.__globals__ }}"),
        problem="templates/pages/sign_in/login.html:2: expected a name of the view, or a member of a loop's item",
    ),
    "joiner": HostileTheme(
        in_lead("{{ joiner('x')() }}"),
        problem='templates/pages/sign_in/login.html:2: expected parts alone between {{ and }}, and texts as text("key")',
    ),
    "namespace": HostileTheme(
        in_lead("{% set ns = namespace(a=1) %}{{ ns.a }}"),
        problem="templates/pages/sign_in/login.html:2: expected a name of the view, or a member of a loop's item",
    ),
    "range": HostileTheme(
        in_lead("{{ range(1000000000) }}"),
        problem='templates/pages/sign_in/login.html:2: expected one of super(), text("key")',
    ),
    "dict": HostileTheme(
        in_lead("{{ dict(a=1) }}"),
        problem='templates/pages/sign_in/login.html:2: expected one of super(), text("key")',
    ),
    "self": HostileTheme(
        in_lead("{{ self._TemplateReference__context }}"),
        problem="templates/pages/sign_in/login.html:2: expected a name of the view, or a member of a loop's item",
    ),
    "block of self": HostileTheme(
        in_lead("{{ self.body() }}"),
        problem='templates/pages/sign_in/login.html:2: expected parts alone between {{ and }}, and texts as text("key")',
    ),
    "loop inside": HostileTheme(
        in_lead("{% for a in links %}{{ loop.__init__.__globals__ }}{% endfor %}"),
        problem="templates/pages/sign_in/login.html:2: expected a name of the view, or a member of a loop's item",
    ),
    "loop outside": HostileTheme(
        in_lead("{{ loop.index }}"),
        problem="templates/pages/sign_in/login.html:2: expected a name of the view, or a member of a loop's item",
    ),
    "recursion": HostileTheme(
        in_lead("{% for a in links recursive %}{{ loop(links) }}{% endfor %}"),
        problem="templates/pages/sign_in/login.html:2: expected {% for NAME in LIST %} alone: without if, recursive and",
    ),
    "item itself": HostileTheme(
        in_lead("{% for a in links %}{{ a }}{% endfor %}"),
        problem="templates/pages/sign_in/login.html:2: expected a value of the view",
    ),
    "method of an item": HostileTheme(
        in_lead("{% for a in links %}{{ a.pop('text') }}{% endfor %}"),
        problem='templates/pages/sign_in/login.html:2: expected parts alone between {{ and }}, and texts as text("key")',
    ),
    "dunder of an item": HostileTheme(
        in_lead("{% for a in links %}{{ a.__class__ }}{% endfor %}"),
        problem="templates/pages/sign_in/login.html:2: expected a value of the view",
    ),
    "caller": HostileTheme(
        in_lead("{{ caller() }}"),
        problem='templates/pages/sign_in/login.html:2: expected one of super(), text("key")',
    ),
    "varargs": HostileTheme(
        in_lead("{{ varargs }}{{ kwargs }}"),
        problem="templates/pages/sign_in/login.html:2: expected a value of the view",
    ),
    "request": HostileTheme(
        in_lead("{{ request.environ }}{{ config }}{{ g }}{{ session }}"),
        problem="templates/pages/sign_in/login.html:2: expected a value of the view",
    ),
    "format string": HostileTheme(
        in_lead("{{ '{0.__class__.__init__.__globals__}'.format(name) }}"),
        problem='templates/pages/sign_in/login.html:2: expected parts alone between {{ and }}, and texts as text("key")',
    ),
    "format filter": HostileTheme(
        in_lead("{{ '%s' | format(name) }}"),
        problem="templates/pages/sign_in/login.html:2: expected one of the filters capitalize, lower, title, upper,",
    ),
    "format operator": HostileTheme(
        in_lead("{{ '%1000000000d' % 1 }}"),
        problem="templates/pages/sign_in/login.html:2: expected a value of the view, a part or a text; a template",
    ),
    "format map": HostileTheme(
        in_lead("{{ 'x'.format_map(name) }}"),
        problem='templates/pages/sign_in/login.html:2: expected parts alone between {{ and }}, and texts as text("key")',
    ),
    "map by attribute": HostileTheme(
        in_lead("{{ links | map(attribute='__class__') | list }}"),
        problem="templates/pages/sign_in/login.html:2: expected one of the filters capitalize, lower, title, upper,",
    ),
    "arguments of a part": HostileTheme(
        in_lead("{{ super(name, *links) }}"),
        problem="templates/pages/sign_in/login.html:2: expected super() without arguments",
    ),
    "arguments of text": HostileTheme(
        in_lead("{{ text('sign_in', **name) }}"),
        problem='templates/pages/sign_in/login.html:2: expected parts alone between {{ and }}, and texts as text("key")',
    ),
    "key of text that is a value": HostileTheme(
        in_lead("{{ text(name) }}"),
        problem='templates/pages/sign_in/login.html:2: expected a key in quotes: text("key")',
    ),
    "key of text of another kind": HostileTheme(
        in_lead("{{ text('__class__') }}"),
        problem="templates/pages/sign_in/login.html:2: expected the key of a text without plural forms, or of a text of",
    ),
    "own key that nobody wrote": HostileTheme(
        in_lead("{{ text('own.secret') }}"),
        problem="templates/pages/sign_in/login.html:2: expected the key of a text without plural forms, or of a text of",
    ),
    "test of a value": HostileTheme(
        in_lead("{% if name is sameas(text) %}x{% endif %}"),
        problem="templates/pages/sign_in/login.html:2: expected a condition of names, not, and, or, == and !=",
    ),
    "test by call": HostileTheme(
        in_lead("{% if text('sign_in') %}x{% endif %}"),
        problem="templates/pages/sign_in/login.html:2: expected a condition of names, not, and, or, == and !=",
    ),
    "parent of parent": HostileTheme(
        in_lead("{{ super.super() }}"),
        problem='templates/pages/sign_in/login.html:2: expected parts alone between {{ and }}, and texts as text("key")',
    ),
    "secret of a page": HostileTheme(
        in_lead("{{ token }}"),
        problem="templates/pages/sign_in/login.html:2: expected a value of the view",
    ),
    "password of a page": HostileTheme(
        in_lead("{{ password }}"),
        problem="templates/pages/sign_in/login.html:2: expected a value of the view",
    ),
    "context of Jinja": HostileTheme(
        in_lead("{{ __jinja_exception__ }}"),
        problem="templates/pages/sign_in/login.html:2: expected a value of the view",
    ),
    "undeclared environment": HostileTheme(
        in_lead("{{ environment.globals }}"),
        problem="templates/pages/sign_in/login.html:2: expected a name of the view, or a member of a loop's item",
    ),
    "do": HostileTheme(
        in_lead("{% do name %}"),
        problem="templates/pages/sign_in/login.html:2: expected valid Jinja: Encountered unknown tag 'do'.",
    ),
    "debug": HostileTheme(
        in_lead("{% debug %}"),
        problem="templates/pages/sign_in/login.html:2: expected valid Jinja: Encountered unknown tag 'debug'.",
    ),
    "translation": HostileTheme(
        in_lead("{% trans %}x{% endtrans %}"),
        problem="templates/pages/sign_in/login.html:2: expected valid Jinja: Encountered unknown tag 'trans'.",
    ),
    "line statement": HostileTheme(in_lead("# for a in range(9)\n## comment")),
    "comparison with infinity": HostileTheme(
        in_lead("{% if name == 1e999 %}x{% endif %}"),
        problem='templates/pages/sign_in/login.html:2: expected a comparison of one name with one word: name == "word"',
    ),
    "comparison with a number": HostileTheme(
        in_lead("{% if name == 5 %}x{% endif %}"),
        problem='templates/pages/sign_in/login.html:2: expected a comparison of one name with one word: name == "word"',
    ),
    "byte order mark": HostileTheme({LOGIN: "\ufeff" + WHOLE}),
    # What includes, imports and extends
    "include": HostileTheme(
        in_lead("{% include 'pages/sign_in/login.html' %}"),
        problem="templates/pages/sign_in/login.html:2: expected no {% include %}: a template is one file",
    ),
    "include of a file": HostileTheme(
        in_lead("{% include '/etc/passwd' ignore missing %}"),
        problem="templates/pages/sign_in/login.html:2: expected no {% include %}: a template is one file",
    ),
    "import": HostileTheme(
        in_lead("{% import 'macros/field.html' as f %}"),
        problem="templates/pages/sign_in/login.html:2: expected no {% import %}: a template is one file",
    ),
    "from import": HostileTheme(
        in_lead("{% from 'macros/field.html' import field %}"),
        problem="templates/pages/sign_in/login.html:2: expected no {% from %}: a template is one file",
    ),
    "extends": HostileTheme(
        {LOGIN: "{% extends 'layouts/split.html' %}"},
        problem="templates/pages/sign_in/login.html:1: expected {{ notice() }}: Errors and other messages.",
    ),
    "extends in a block": HostileTheme(
        in_lead("{% extends name %}"),
        problem="templates/pages/sign_in/login.html:2: expected no {% extends %}: the file replaces the built-in one, or",
    ),
    "macro": HostileTheme(
        in_lead("{% macro m() %}{{ m() }}{% endmacro %}"),
        problem="templates/pages/sign_in/login.html:2: expected no {% macro %}: write the markup where it stands",
    ),
    "call": HostileTheme(
        in_lead("{% call super() %}{% endcall %}"),
        problem="templates/pages/sign_in/login.html:2: expected no {% call %}",
    ),
    "set": HostileTheme(
        in_lead("{% set name = 'x' %}"),
        problem="templates/pages/sign_in/login.html:2: expected no {% set %}: a template stores nothing",
    ),
    "with": HostileTheme(
        in_lead("{% with a = name %}{{ a }}{% endwith %}"),
        problem="templates/pages/sign_in/login.html:2: expected no {% with %}",
    ),
    "autoescape off": HostileTheme(
        in_lead("{% autoescape false %}{{ name }}{% endautoescape %}"),
        problem="templates/pages/sign_in/login.html:2: expected no {% autoescape %}: values are always escaped",
    ),
    "raw that hides Jinja": HostileTheme(
        in_lead("{% raw %}{{ super() }}<script>{% endraw %}"),
        problem="templates/pages/sign_in/login.html:2: expected no <script>: name the script in scripts of theme.yaml",
    ),
    "safe": HostileTheme(
        in_lead("{{ name | safe }}"),
        problem="templates/pages/sign_in/login.html:2: expected one of the filters capitalize, lower, title, upper,",
    ),
    "filter block": HostileTheme(
        in_lead("{% filter upper %}x{% endfilter %}"),
        problem="templates/pages/sign_in/login.html:2: expected no {% filter %}",
    ),
    # What runs long, or becomes large
    "loop over a range": HostileTheme(
        in_lead("{% for a in range(1000000) %}x{% endfor %}"),
        problem="templates/pages/sign_in/login.html:2: expected a loop over a list of the view: links, connections,",
    ),
    "loop over a list": HostileTheme(
        in_lead("{% for a in [1, 2, 3] %}x{% endfor %}"),
        problem="templates/pages/sign_in/login.html:2: expected a loop over a list of the view: links, connections,",
    ),
    "loop over a text": HostileTheme(
        in_lead("{% for a in name %}x{% endfor %}"),
        problem="templates/pages/sign_in/login.html:2: expected a loop over a list of the view: links, connections,",
    ),
    "loop three deep": HostileTheme(
        in_lead("{% for a in links %}{% for b in links %}{% for c in links %}x{% endfor %}{% endfor %}{% endfor %}"),
        problem="templates/pages/sign_in/login.html:2: expected at most 2 loops within each other",
    ),
    "loop that repeats a form": HostileTheme(
        in_lead("{% for a in links %}{{ super() }}{% endfor %}"),
        problem="templates/pages/sign_in/login.html:2: expected super() outside of loops",
    ),
    "power": HostileTheme(
        in_lead("{{ 9 ** 9 ** 9 ** 9 }}"),
        problem="templates/pages/sign_in/login.html:2: expected a value of the view, a part or a text; a template",
    ),
    "repeated text": HostileTheme(
        in_lead("{{ 'a' * 1000000000 }}"),
        problem="templates/pages/sign_in/login.html:2: expected a value of the view, a part or a text; a template",
    ),
    "concatenation": HostileTheme(
        in_lead("{{ name ~ name }}"),
        problem="templates/pages/sign_in/login.html:2: expected a value of the view, a part or a text; a template",
    ),
    "constant of 10,000 digits": HostileTheme(
        in_lead("{{ " + "9" * 10_000 + " }}"),
        problem="templates/pages/sign_in/login.html:2: expected numbers of few digits; a template calculates nothing",
    ),
    "constant that becomes infinite": HostileTheme(
        in_lead("{{ 1e999 }}"),
        problem="templates/pages/sign_in/login.html:2: expected a value of the view, a part or a text; a template",
    ),
    "list of 5,000 constants": HostileTheme(
        in_lead("{{ [" + "1," * 5_000 + "] }}"),
        problem="templates/pages/sign_in/login.html:2: expected a value of the view, a part or a text; a template",
    ),
    "condition over a list of constants": HostileTheme(
        in_lead("{% if name in [" + "'a'," * 3_000 + "] %}x{% endif %}"),
        problem='templates/pages/sign_in/login.html:2: expected a comparison of one name with one word: name == "word"',
    ),
    "1,500 filters": HostileTheme(
        in_lead("{{ name" + "|upper" * 1_500 + " }}"),
        problem="templates/pages/sign_in/login.html:2: expected at most 8 filters and conditions in one value",
    ),
    "filter that pads": HostileTheme(
        in_lead("{{ name | center(1000000000) }}"),
        problem="templates/pages/sign_in/login.html:2: expected one of the filters capitalize, lower, title, upper,",
    ),
    "filter of tojson": HostileTheme(
        in_lead("{{ links | tojson(indent=100000000) }}"),
        problem="templates/pages/sign_in/login.html:2: expected one of the filters capitalize, lower, title, upper,",
    ),
    "filter that joins": HostileTheme(
        in_lead("{{ links | batch(1, name) | list }}"),
        problem="templates/pages/sign_in/login.html:2: expected one of the filters capitalize, lower, title, upper,",
    ),
    "brackets in brackets": HostileTheme(
        in_lead("{{ " + "(" * 4_000 + "name" + ")" * 4_000 + " }}"),
        problem="templates/pages/sign_in/login.html:2: expected at most 20 levels within each other",
    ),
    "lists in lists": HostileTheme(
        in_lead("{{ " + "[" * 4_000 + "]" * 4_000 + " }}"),
        problem="templates/pages/sign_in/login.html:2: expected at most 20 levels within each other",
    ),
    "negation in negation": HostileTheme(
        in_lead("{% if " + "not " * 3_000 + "name %}x{% endif %}"),
        problem="templates/pages/sign_in/login.html:2: expected at most 20 levels within each other",
    ),
    "condition of 1,300 words": HostileTheme(
        in_lead("{% if " + "name or " * 1_300 + "name %}x{% endif %}"),
        problem="templates/pages/sign_in/login.html:2: expected at most 20 levels of a condition",
    ),
    "conditions in conditions": HostileTheme(
        in_lead("{% if name %}" * 140 + "{% endif %}" * 140),
        problem="templates/pages/sign_in/login.html:2: expected at most 20 conditions within each other",
    ),
    "condition of 600 ways": HostileTheme(
        in_lead("{% if name %}x" + "{% elif name == 'x' %}y" * 600 + "{% endif %}"),
        problem="templates/pages/sign_in/login.html:1: expected at most 300 values and statements; found 604",
    ),
    "condition of 290 ways": HostileTheme(in_lead("{% if name %}x" + "{% elif name == 'x' %}y" * 290 + "{% endif %}")),
    "600 conditions": HostileTheme(
        in_lead("{% if name %}{% endif %}" * 600),
        problem="templates/pages/sign_in/login.html:1: expected at most 300 values and statements; found 1,202",
    ),
    "attributes of attributes": HostileTheme(
        in_lead("{{ name" + ".a" * 5_000 + " }}"),
        problem="templates/pages/sign_in/login.html:2: expected a name of the view, or a member of a loop's item",
    ),
    "elements in elements": HostileTheme(
        in_lead("<div>" * 1_000 + "</div>" * 1_000),
        problem="templates/pages/sign_in/login.html:2: expected at most 40 elements within each other",
    ),
    "1,000 elements": HostileTheme(in_lead("<br>" * 3_000)),
    "1,300 attributes": HostileTheme(
        in_lead("<p " + 'title="" ' * 1_300 + "></p>"),
        problem="templates/pages/sign_in/login.html:2: expected title once in <p>",
    ),
    "1,500 values": HostileTheme(
        in_lead("{{ name }}" * 1_500),
        problem="templates/pages/sign_in/login.html:1: expected at most 300 values and statements; found 1,502",
    ),
    "290 values": HostileTheme(in_lead("{{ name }}" * 290)),
    "loops that multiply": HostileTheme(
        in_lead("{% for a in links %}{% for b in links %}" + "x" * 15_000 + "{% endfor %}{% endfor %}"),
    ),
    "large file": HostileTheme(
        {LOGIN: "x" * 20_000},
        problem="templates/pages/sign_in/login.html:1: expected at most 16 kB",
    ),
    "huge file": HostileTheme(
        {LOGIN: "x" * 5_000_000},
        problem="templates/pages/sign_in/login.html:1: expected at most 16 kB",
    ),
    "unclosed comment": HostileTheme(
        in_lead("{# " * 4_000),
        problem="templates/pages/sign_in/login.html:2: expected valid Jinja: Missing end of comment tag",
    ),
    "unclosed tags": HostileTheme(
        in_lead("{% if " * 290),
        problem="templates/pages/sign_in/login.html:2: expected valid Jinja: this tag has no end.",
    ),
    "tags of the lexer": HostileTheme(
        in_lead("{{" * 290),
        problem="templates/pages/sign_in/login.html:1: expected {% endblock %} for this {% block lead %}",
    ),
    "text with NUL": HostileTheme(
        in_lead("a\0b"),
        problem="templates/pages/sign_in/login.html:2: expected text without control characters",
    ),
}
# fmt: on
