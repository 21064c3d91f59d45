"""Tries a draft of a workflow on past sign-ins: what it would have done with each, as far as the audit log tells."""
