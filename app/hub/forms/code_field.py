"""The field of a code that people copy from a message or an app."""

from wtforms import StringField


class CodeField(StringField):
    """A code. A refused one is not shown again: the field would have the focus with the caret before it, and a typed code would join it."""

    def _value(self) -> str:
        return "" if self.errors or self.data is None else str(self.data)
