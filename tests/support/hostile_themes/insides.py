"""Templates of the insides of fields, buttons, rows and messages that lose, double, hide or fake what is ours."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from tests.support.hostile_themes.hostile_theme import BUTTON, CSS, FIELD, NOTICE, PASSWORD, HostileTheme

# fmt: off
INSIDES: Final[Mapping[str, HostileTheme]] = {
    "field without its control": HostileTheme(
        {FIELD: "{{ label() }}{{ note() }}{{ beside() }}"},
        problem="templates/macros/field.html:1: expected {{ control() }}: The input, with its button to show a password.",
    ),
    "field with its control twice": HostileTheme(
        {FIELD: "{{ label() }}{{ control() }}{{ control() }}{{ note() }}{{ beside() }}"},
        problem="templates/macros/field.html:1: expected control() at most once on each way through the conditions",
    ),
    "field without its error": HostileTheme(
        {FIELD: "{{ label() }}{{ control() }}{{ beside() }}"},
        problem="templates/macros/field.html:1: expected {{ hint() }}, or note() in its place: The hint, below the input, and",
    ),
    "field with a field of its own": HostileTheme(
        {FIELD: '{{ label() }}{{ control() }}{{ note() }}{{ beside() }}<input name="{{ field }}">'},
        problem="templates/macros/field.html:1: expected no <input>: the page has its own fields",
    ),
    "field whose control is in its name": HostileTheme(
        {FIELD: '<div title="{{ control() }}">{{ label() }}{{ note() }}{{ beside() }}</div>'},
        problem="templates/macros/field.html:1: expected control() between elements, because it is markup",
    ),
    "field for one name alone": HostileTheme(
        {FIELD: "{% if field == 'identifier' %}{{ control() }}{% endif %}{{ label() }}{{ note() }}{{ beside() }}"},
        problem="templates/macros/field.html:1: expected {{ control() }}: The input, with its button to show a password.",
    ),
    "field in a link": HostileTheme(
        {FIELD: '<a href="https://eve.example">{{ label() }}</a>{{ control() }}{{ note() }}{{ beside() }}'},
        problem="templates/macros/field.html:1: expected label() within aside, div, footer, header, nav, section, span alone",
    ),
    "message without its sentence": HostileTheme(
        {NOTICE: "{{ mark() }}{{ problems() }}"},
        problem="templates/macros/notice.html:1: expected {{ message() }}: What happened, and what to do.",
    ),
    "message of one tone alone": HostileTheme(
        {NOTICE: "{% if tone == 'danger' %}{% else %}{{ message() }}{% endif %}{{ problems() }}"},
        problem="templates/macros/notice.html:1: expected {{ message() }}: What happened, and what to do.",
    ),
    "button without its label": HostileTheme(
        {BUTTON: "Go"},
        problem="templates/macros/button.html:1: expected {{ label() }}: What it says.",
    ),
    "button of one kind alone": HostileTheme(
        {BUTTON: "{% if is_danger %}Keep{% else %}{{ label() }}{% endif %}"},
        problem="templates/macros/button.html:1: expected {{ label() }}: What it says.",
    ),
    "button with its label twice": HostileTheme(
        {BUTTON: "{{ label() }}{{ label() }}"},
        problem="templates/macros/button.html:1: expected label() at most once on each way through the conditions",
    ),
    "button whose label is in a box of one size": HostileTheme(
        {BUTTON: '<span class="tile">{{ label() }}</span>'},
        problem="templates/macros/button.html:1: expected label() outside of .tile, which may hide it or cut it off: end the element",
    ),
    "button whose label is in a word of a row": HostileTheme(
        {BUTTON: '<span class="tag"><b>{{ label() }}</b></span>'},
        problem="templates/macros/button.html:1: expected label() outside of .tag, which may hide it or cut it off: end the element",
    ),
    "field in a box of one size": HostileTheme(
        {FIELD: '{{ label() }}<div class="own-a tile">{{ control() }}</div>{{ note() }}{{ beside() }}'},
        problem="templates/macros/field.html:1: expected control() outside of .tile, which may hide it or cut it off: end the element",
    ),
    "field in a sentence that errors hide": HostileTheme(
        {FIELD: '<div class="lead">{{ label() }}{{ control() }}</div>{{ note() }}{{ beside() }}'},
        problem="templates/macros/field.html:1: expected label() outside of .lead, which may hide it or cut it off: end the element",
    ),
    "field that looks like a button": HostileTheme(
        {FIELD: '<div class="button">{{ label() }}{{ control() }}</div>{{ note() }}{{ beside() }}'},
        problem="templates/macros/field.html:1: expected label() outside of .button, which may hide it or cut it off: end the element",
    ),
    "button hidden from readers": HostileTheme(
        {BUTTON: '<span aria-hidden="true">{{ label() }}</span>'},
        problem="templates/macros/button.html:1: expected label() outside of elements with aria-hidden or role",
    ),
    "button of another name for readers": HostileTheme(
        {BUTTON: '<span aria-label="Leave now">{{ label() }}</span>'},
        problem="templates/macros/button.html:1: expected an attribute that <span> may have",
    ),
    "button within a button": HostileTheme(
        {BUTTON: '<button name="do" value="delete">x</button>{{ label() }}'},
        problem="templates/macros/button.html:1: expected no <button>",
    ),
    "button with a link": HostileTheme(
        {BUTTON: '<a href="https://eve.example">{{ label() }}</a>'},
        problem="templates/macros/button.html:1: expected no <a> here: it is within a button, a link or a label",
    ),
    "button with a field": HostileTheme(
        {BUTTON: '<input name="token">{{ label() }}'},
        problem="templates/macros/button.html:1: expected no <input>: the page has its own fields",
    ),
    "button whose end leaves it": HostileTheme(
        {BUTTON: '</button><a href="https://eve.example">x</a>{{ label() }}'},
        problem="templates/macros/button.html:1: expected no <button>",
    ),
    "button that the keyboard stops in": HostileTheme(
        {BUTTON: '<span tabindex="0">{{ label() }}</span>'},
        problem="templates/macros/button.html:1: expected an attribute that <span> may have",
    ),
    "button with a block": HostileTheme(
        {BUTTON: "<div>{{ label() }}</div>"},
        problem="templates/macros/button.html:1: expected no <div> within a line of text: use <span>",
    ),
    "button with an id": HostileTheme(
        {BUTTON: '<span id="own-go">{{ label() }}</span>'},
        problem="templates/macros/button.html:1: expected an attribute that <span> may have",
    ),
    "button in a class that the style sheet hides": HostileTheme(
        {BUTTON: '<span class="own-x">{{ label() }}</span>', CSS: ".own-x { display: none }"},
        problem="templates/macros/button.html:1: expected label() outside of .own-x, which may be hidden, covered or cut by static/css/theme.css",  # noqa: E501
    ),
    "button named by a drawing": HostileTheme(
        {BUTTON: '<svg viewBox="0 0 2 2"><title>Leave now</title></svg>{{ label() }}'},
        problem="templates/macros/button.html:1: expected an element that themes may use",
    ),
    "field with an id": HostileTheme(
        {FIELD: '<div id="own-x">{{ label() }}{{ control() }}{{ note() }}{{ beside() }}</div>'},
        problem="templates/macros/field.html:1: expected an attribute that <div> may have",
    ),
    "password without its rules": HostileTheme(
        {PASSWORD: "{{ label() }}{{ control() }}{{ note() }}{{ beside() }}"},
        problem="templates/macros/password.html:1: expected {{ rules() }}: The rules of a new password.",
    ),
    "password in a field of its own": HostileTheme(
        {PASSWORD: '<input type="password" name="password">{{ label() }}{{ note() }}{{ rules() }}{{ beside() }}'},
        problem="templates/macros/password.html:1: expected no <input>: the page has its own fields",
    ),
    "checkbox without its box": HostileTheme(
        {"templates/macros/checkbox.html": "{{ label() }}"},
        problem="templates/macros/checkbox.html:1: expected {{ control() }}: The box.",
    ),
    "checkbox without what it says": HostileTheme(
        {"templates/macros/checkbox.html": '{{ control() }}{{ text("continue") }}'},
        problem="templates/macros/checkbox.html:1: expected {{ label() }}: What it says, with its links.",
    ),
    "checkbox that looks checked": HostileTheme(
        {"templates/macros/checkbox.html": '<input type="checkbox" checked>{{ control() }}{{ label() }}'},
        problem="templates/macros/checkbox.html:1: expected no <input>: the page has its own fields",
    ),
    "method without its name": HostileTheme(
        {"templates/macros/method.html": "{{ mark() }}{{ key }}{{ tag() }}"},
        problem="templates/macros/method.html:1: expected {{ label() }}: The name of the method.",
    ),
    "method of one provider alone": HostileTheme(
        {"templates/macros/method.html": "{% if key == 'google' %}{{ label() }}{% endif %}{{ tag() }}"},
        problem="templates/macros/method.html:1: expected {{ label() }}: The name of the method.",
    ),
    "row without its state": HostileTheme(
        {"templates/macros/row.html": "{{ label() }}{{ hint() }}"},
        problem="templates/macros/row.html:1: expected {{ tag() }}: Its state in a word, such as “On”.",
    ),
    "row that leads somewhere else": HostileTheme(
        {"templates/macros/row.html": '<a href="/logout">{{ label() }}</a>{{ hint() }}{{ tag() }}'},
        problem="templates/macros/row.html:1: expected no <a> here: it is within a button, a link or a label",
    ),
    "chip of nobody": HostileTheme(
        {"templates/macros/chip.html": "{{ face() }}{{ change() }}"},
        problem="templates/macros/chip.html:1: expected {{ name() }}: The account.",
    ),
    "chip without its way out": HostileTheme(
        {"templates/macros/chip.html": "{{ face() }}{{ name() }}"},
        problem="templates/macros/chip.html:1: expected {{ change() }}: The button or link to another account.",
    ),
    "chip with a form of its own": HostileTheme(
        {"templates/macros/chip.html": '{{ name() }}<form action="https://eve.example">{{ change() }}</form>'},
        problem="templates/macros/chip.html:1: expected no <form>: the page has its own",
    ),
    "count of errors without their links": HostileTheme(
        {"templates/macros/summary.html": "{{ message() }}"},
        problem="templates/macros/summary.html:1: expected {{ problems() }}: The links to the fields with errors.",
    ),
    "template of no part": HostileTheme(
        {"templates/macros/forms.html": "x"},
        problem="templates/macros/forms.html:1: expected a template that a theme can replace, such as",
    ),
}
# fmt: on
