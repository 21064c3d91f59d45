"""Writes the page of the SAML gate: its rules, the hostile messages that the tests send, and what refusing them costs."""
