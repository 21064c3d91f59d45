"""Measures each hostile message of the tests in a process of its own, and writes docs/saml-gate.md. Usage: `python -m tools.saml_gate`."""

from tools.saml_gate import page

page.TARGET.write_text(page.document(page.measure()))
print(f"{page.TARGET.relative_to(page.ROOT)} is written.")
