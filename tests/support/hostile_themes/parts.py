"""Templates that lose, double or hide our parts, or take the place of our elements."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from tests.support.hostile_themes.hostile_theme import (
    CSS,
    LOGIN,
    SPLIT,
    WHOLE,
    HostileTheme,
    in_lead,
    in_split,
)

# fmt: off
PARTS: Final[Mapping[str, HostileTheme]] = {
    # Forms, ids and what people type
    "form to another host": HostileTheme(
        in_lead('<form action="https://eve.example" method="post"></form>'),
        problem="templates/pages/sign_in/login.html:2: expected no <form>: the page has its own",
    ),
    "field for another form": HostileTheme(
        in_lead('<input name="password" form="eve">'),
        problem="templates/pages/sign_in/login.html:2: expected no <input>: the page has its own fields",
    ),
    "button to another host": HostileTheme(
        in_lead('<button formaction="https://eve.example">x</button>'),
        problem='templates/pages/sign_in/login.html:2: expected no <button>: link with <a class="button">',
    ),
    "attribute formaction": HostileTheme(
        in_lead('<a href="/login" formaction="https://eve.example">x</a>'),
        problem="templates/pages/sign_in/login.html:2: expected an attribute that <a> may have",
    ),
    "contenteditable": HostileTheme(
        in_lead('<div contenteditable="true">Password</div>'),
        problem="templates/pages/sign_in/login.html:2: expected an attribute that <div> may have",
    ),
    "autofocus": HostileTheme(
        in_lead('<div tabindex="0" autofocus>x</div>'),
        problem="templates/pages/sign_in/login.html:2: expected an attribute that <div> may have",
    ),
    "order of the keyboard": HostileTheme(
        in_lead('<div tabindex="5">x</div>'),
        problem="templates/pages/sign_in/login.html:2: expected one of -1, 0 for tabindex",
    ),
    "access key": HostileTheme(
        in_lead('<a href="/logout" accesskey="a">x</a>'),
        problem="templates/pages/sign_in/login.html:2: expected an attribute that <a> may have",
    ),
    "popover": HostileTheme(
        in_lead('<div popover="manual">x</div>'),
        problem="templates/pages/sign_in/login.html:2: expected an attribute that <div> may have",
    ),
    "dialog": HostileTheme(
        in_lead("<dialog open>x</dialog>"),
        problem="templates/pages/sign_in/login.html:2: expected an element that themes may use",
    ),
    "inert": HostileTheme(
        in_lead("<div inert>x</div>"),
        problem="templates/pages/sign_in/login.html:2: expected an attribute that <div> may have",
    ),
    "clobbered id": HostileTheme(
        in_lead('<div id="summary">x</div>'),
        problem="templates/pages/sign_in/login.html:2: expected an id of its own that begins with own-",
    ),
    "clobbered name": HostileTheme(
        in_lead('<a href="/login" name="token">x</a>'),
        problem="templates/pages/sign_in/login.html:2: expected an attribute that <a> may have",
    ),
    "clobbered name of a form": HostileTheme(
        in_lead('<img src="/theme/a.png" alt="" name="action">'),
        problem="templates/pages/sign_in/login.html:2: expected an attribute that <img> may have",
    ),
    "id of a value": HostileTheme(
        in_lead('<div id="own-{{ name }}">x</div>'),
        problem="templates/pages/sign_in/login.html:2: expected an id of its own that begins with own-",
    ),
    "id twice": HostileTheme(
        in_lead('<i id="own-a"></i><i id="own-a"></i>'),
        problem="templates/pages/sign_in/login.html:2: expected an id of its own that begins with own-",
    ),
    "data for our script": HostileTheme(
        in_lead('<div data-counts="x">x</div>'),
        problem="templates/pages/sign_in/login.html:2: expected an attribute that <div> may have",
    ),
    "class of ours that hides": HostileTheme(
        in_lead('<div class="visually-hidden">x</div>'),
        problem="templates/pages/sign_in/login.html:2: expected classes that begin with own-, or one of aside, bar,",
    ),
    "class with a value": HostileTheme(
        in_lead('<div class="own-{{ name }}">x</div>'),
        problem="templates/pages/sign_in/login.html:2: expected class names as they are, with conditions where they differ",
    ),
    "class of many": HostileTheme(in_lead('<div class="' + "own-a " * 2_000 + '">x</div>')),
    "label for a field": HostileTheme(
        in_lead('<label for="password">x</label>'),
        problem="templates/pages/sign_in/login.html:2: expected an element that themes may use",
    ),
    "script of an id": HostileTheme(
        in_lead('<a href="#summary">x</a>'),
        problem="templates/pages/sign_in/login.html:2: expected an https address, /path, mailto:, tel: or #own-id as href",
    ),
    # Parts that are lost, hidden, doubled or covered
    "form twice": HostileTheme(
        {LOGIN: WHOLE + "{{ body() }}"},
        problem="templates/pages/sign_in/login.html:1: expected body() at most once on each way through the conditions",
    ),
    "form lost": HostileTheme(
        {LOGIN: WHOLE.replace("{{ body() }}", "")},
        problem="templates/pages/sign_in/login.html:1: expected {{ body() }}: The page’s forms, lists and buttons.",
    ),
    "heading lost": HostileTheme(
        {LOGIN: WHOLE.replace("{{ heading() }}", "")},
        problem="templates/pages/sign_in/login.html:1: expected {{ heading() }}: The heading of the page.",
    ),
    "errors lost": HostileTheme(
        {LOGIN: WHOLE.replace("{{ notice() }}", "")},
        problem="templates/pages/sign_in/login.html:1: expected {{ notice() }}: Errors and other messages.",
    ),
    "empty page": HostileTheme(
        {LOGIN: ""},
        problem="templates/pages/sign_in/login.html:1: expected {{ notice() }}: Errors and other messages.",
    ),
    "empty block": HostileTheme(
        {LOGIN: "{% block body %}{% endblock %}"},
        problem="templates/pages/sign_in/login.html:1: expected {{ super() }}: The page’s forms, lists and buttons.",
    ),
    "form in a condition": HostileTheme(
        {LOGIN: WHOLE.replace("{{ body() }}", "{% if has_error %}{{ body() }}{% endif %}")},
        problem="templates/pages/sign_in/login.html:1: expected {{ body() }}: The page’s forms, lists and buttons.",
    ),
    "form in a wrong condition": HostileTheme(
        {LOGIN: WHOLE.replace("{{ body() }}", "{% if has_notice %}{{ body() }}{% endif %}")},
        problem="templates/pages/sign_in/login.html:1: expected {{ body() }}: The page’s forms, lists and buttons.",
    ),
    "form in both ways": HostileTheme(
        {LOGIN: WHOLE.replace("{{ body() }}", "{% if name %}{{ body() }}{% else %}{{ body() }}{% endif %}")},
    ),
    "errors in a negated condition": HostileTheme(
        {LOGIN: WHOLE.replace("{{ notice() }}", "{% if not has_notice %}{{ notice() }}{% endif %}")},
        problem="templates/pages/sign_in/login.html:1: expected {{ notice() }}: Errors and other messages.",
    ),
    "errors in an empty way": HostileTheme(
        {LOGIN: WHOLE.replace("{{ notice() }}", "{% if has_notice %}{% else %}{{ notice() }}{% endif %}")},
        problem="templates/pages/sign_in/login.html:1: expected {{ notice() }}: Errors and other messages.",
    ),
    "flag of another block": HostileTheme(
        {LOGIN: WHOLE + "{% if has_lead2 %}x{% endif %}"},
        problem="templates/pages/sign_in/login.html:1: expected a value of the view",
    ),
    "super twice": HostileTheme(
        {LOGIN: "{% block body %}{{ super() }}{{ super() }}{% endblock %}"},
        problem="templates/pages/sign_in/login.html:1: expected super() at most once on each way through the conditions",
    ),
    "super in a page": HostileTheme(
        {LOGIN: WHOLE + "{{ super() }}"},
        problem="templates/pages/sign_in/login.html:1: expected one of sign(), heading(), lead(), notice(), methods(),",
    ),
    "block in a block": HostileTheme(
        {LOGIN: "{% block body %}{% block lead %}{% endblock %}{{ super() }}{% endblock %}"},
        problem="templates/pages/sign_in/login.html:1: expected no block within the block body",
    ),
    "block twice": HostileTheme(
        {LOGIN: "{% block lead %}{% endblock %}\n{% block lead %}{% endblock %}"},
        problem="templates/pages/sign_in/login.html:2: expected the block lead once",
    ),
    "block that no page has": HostileTheme(
        {LOGIN: "{% block title %}x{% endblock %}"},
        problem="templates/pages/sign_in/login.html:1: expected one of the blocks sign, heading, lead, notice, methods,",
    ),
    "block with dunder name": HostileTheme(
        {LOGIN: "{% block __class__ %}x{% endblock %}"},
        problem="templates/pages/sign_in/login.html:1: expected one of the blocks sign, heading, lead, notice, methods,",
    ),
    "block scoped": HostileTheme(
        {LOGIN: "{% block lead scoped %}x{% endblock %}"},
        problem="templates/pages/sign_in/login.html:1: expected {% block NAME %} with one name alone",
    ),
    "text beside blocks": HostileTheme(
        {LOGIN: "<script>{% block lead %}x{% endblock %}"},
        problem="templates/pages/sign_in/login.html:1: expected everything within a {% block NAME %}",
    ),
    "block in a comment": HostileTheme({LOGIN: "{# {% block lead %} #}"}),
    "block in raw": HostileTheme(
        {LOGIN: "{% raw %}{% block lead %}{% endblock %}{% endraw %}"},
        problem="templates/pages/sign_in/login.html:1: expected everything within a {% block NAME %}",
    ),
    "form in a link": HostileTheme(
        {LOGIN: '{% block body %}<a href="https://eve.example">{{ super() }}</a>{% endblock %}'},
        problem="templates/pages/sign_in/login.html:1: expected super() within aside, div, footer, header, nav, section",
    ),
    "form hidden from readers": HostileTheme(
        {LOGIN: '{% block body %}<div aria-hidden="true">{{ super() }}</div>{% endblock %}'},
        problem="templates/pages/sign_in/login.html:1: expected super() outside of elements with aria-hidden or role",
    ),
    "form of no role": HostileTheme(
        {LOGIN: '{% block body %}<div role="presentation">{{ super() }}</div>{% endblock %}'},
        problem="templates/pages/sign_in/login.html:1: expected super() outside of elements with aria-hidden or role",
    ),
    "form as a picture": HostileTheme(
        {LOGIN: '{% block body %}<div role="img">{{ super() }}</div>{% endblock %}'},
        problem="templates/pages/sign_in/login.html:1: expected super() outside of elements with aria-hidden or role",
    ),
    "form in closed details": HostileTheme(
        {LOGIN: "{% block body %}<details><summary>x</summary>{{ super() }}</details>{% endblock %}"},
        problem="templates/pages/sign_in/login.html:1: expected super() within aside, div, footer, header, nav, section",
    ),
    "form in a hidden element": HostileTheme(
        {LOGIN: "{% block body %}<div hidden>{{ super() }}</div>{% endblock %}"},
        problem="templates/pages/sign_in/login.html:1: expected an attribute that <div> may have",
    ),
    "form in a deleted text": HostileTheme(
        {LOGIN: "{% block body %}<del>{{ super() }}</del>{% endblock %}"},
        problem="templates/pages/sign_in/login.html:1: expected super() within aside, div, footer, header, nav, section",
    ),
    "form in a drawing": HostileTheme(
        {LOGIN: "{% block body %}<svg>{{ super() }}</svg>{% endblock %}"},
        problem="templates/pages/sign_in/login.html:1: expected super() within aside, div, footer, header, nav, section",
    ),
    "form in a list": HostileTheme(
        {LOGIN: "{% block body %}<ul><li>{{ super() }}</li></ul>{% endblock %}"},
        problem="templates/pages/sign_in/login.html:1: expected super() within aside, div, footer, header, nav, section",
    ),
    "form in another language": HostileTheme(
        {LOGIN: '{% block body %}<div dir="rtl" lang="xx">{{ super() }}</div>{% endblock %}'},
    ),
    "form renamed for readers": HostileTheme(
        {LOGIN: '{% block body %}<div aria-label="Leave now" aria-roledescription="{{ name }}">{{ super() }}</div>{% endblock %}'},
    ),
    "form in a class that the style sheet hides": HostileTheme(
        {LOGIN: '{% block body %}<div class="own-x">{{ super() }}</div>{% endblock %}', CSS: ".own-x { display: none }"},
        problem="templates/pages/sign_in/login.html:1: expected super() outside of .own-x, which may be hidden, covered or cut by static/css/theme.css, line 1:",  # noqa: E501
    ),
    "form in a class that a variable hides": HostileTheme(
        {LOGIN: '{% block body %}<div class="own-x">{{ super() }}</div>{% endblock %}', CSS: ":root { --own-o: 0 } .own-x { opacity: var(--own-o) }"},  # noqa: E501
        problem="templates/pages/sign_in/login.html:1: expected super() outside of .own-x, which may be hidden, covered or cut by static/css/theme.css, line 1:",  # noqa: E501
    ),
    "form in a class that a condition hides": HostileTheme(
        {LOGIN: '{% block body %}<div class="{% if name %}own-x{% endif %}">{{ super() }}</div>{% endblock %}', CSS: "@media (min-width: 1px) { .own-x { position: absolute; left: -9999px } }"},  # noqa: E501
        problem="templates/pages/sign_in/login.html:1: expected super() outside of .own-x, which may be hidden, covered or cut by static/css/theme.css, line 1:",  # noqa: E501
    ),
    "form beside a class that covers": HostileTheme(
        {LOGIN: '{% block body %}<div class="own-x">x</div>{{ super() }}{% endblock %}', CSS: ".own-x { position: absolute; inset: 0 }"},
        problem="templates/pages/sign_in/login.html:1: expected no .own-x here",
    ),
    "layout without content": HostileTheme(
        {SPLIT: "<div>{{ languages() }}</div>"},
        problem="templates/layouts/split.html:1: expected {{ content() }}: The page itself: heading, form, errors and ways",
    ),
    "layout without languages": HostileTheme(
        {SPLIT: "<div>{{ content() }}</div>"},
        problem="templates/layouts/split.html:1: expected {{ languages() }}, or footer() in its place: The links to the",
    ),
    "layout with content twice": HostileTheme(
        in_split("{{ content() }}"),
        problem="templates/layouts/split.html:1: expected content() at most once on each way through the conditions",
    ),
    "layout with footer and languages": HostileTheme(
        in_split("{{ footer() }}"),
        problem="templates/layouts/split.html:1: expected languages() or footer(), not both",
    ),
    "layout without an end": HostileTheme(
        in_split("</body></html>"),
        problem="templates/layouts/split.html:1: expected no <body>: the page has it",
    ),
    "layout with a script": HostileTheme(
        in_split("<script>alert(1)</script>"),
        problem="templates/layouts/split.html:1: expected no <script>: name the script in scripts of theme.yaml",
    ),
    "layout with a block": HostileTheme(
        in_split("{% block content %}{% endblock %}"),
        problem="templates/layouts/split.html:1: expected no {% block %} here: a layout has none, and those of a page",
    ),
    "template of no page": HostileTheme(
        {"templates/pages/admin.html": "x"},
        problem="templates/pages/admin.html:1: expected a template that a theme can replace, such as",
    ),
    "template of the document": HostileTheme(
        {"templates/layouts/document.html": "x"},
        problem="templates/layouts/document.html:1: expected a template that a theme can replace, such as",
    ),
}
# fmt: on
