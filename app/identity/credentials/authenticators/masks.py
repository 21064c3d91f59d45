"""Masked addresses and numbers: the owner recognizes them, a reader cannot reconstruct them (interface mfa.md section 1)."""

from __future__ import annotations


def mask_email(email: str) -> str:
    """Mask an address to the first and last letter of its local part and of each label: `x**z@e****e.c*m`."""
    local, _, domain = email.rpartition("@")
    return f"{_mask_inner(local)}@{'.'.join(_mask_inner(label) for label in domain.split('.'))}"


def mask_phone(phone: str) -> str:
    """Mask a number except its last two digits."""
    return f"{'*' * max(0, len(phone) - 2)}{phone[-2:]}"


def _mask_inner(text: str) -> str:
    return f"{text[:1]}{'*' * (len(text) - 2)}{text[-1:]}" if len(text) > 2 else f"{text[:1]}{'*' * (len(text) - 1)}"
