"""Authorization details: types of a tenant, valid and refused ones."""

from __future__ import annotations

import json

TYPES = {
    "payment": {
        "title": {"en": "Make a payment"},
        "fields": {"amount": {"required": True, "label": {"en": "Amount"}}, "creditor": {}},
    },
    "https://bank.example/accounts": {},
    "other": {},
}


PAYMENT = {"type": "payment", "amount": {"currency": "EUR", "value": "123.50"}, "locations": ["https://bank.example"]}


ACCOUNTS = {"type": "https://bank.example/accounts", "actions": ["list", "read"], "identifier": "DE02"}


BOTH = [PAYMENT, ACCOUNTS]


NESTED = json.dumps([{"type": "payment", "amount": 1}]).replace("1", "[" * 64 + "]" * 64)


REFUSED = [
    "[",
    "{}",
    "[]",
    "null",
    '"payment"',
    "[1]",
    "[[]]",
    "[{}]",
    '[{"type": 5}]',
    '[{"type": "payment", "amount": NaN}]',
    '[{"type": "payment", "amount": 1e999}]',
    '[{"type": "payment", "amount": 1, "amount": 2}]',
    [{"type": "payment"}],
    [{"type": "payment", "amount": ""}],
    [{**PAYMENT, "evil": 1}],
    [{**PAYMENT, "actions": "read"}],
    [{**PAYMENT, "locations": [1]}],
    [{**PAYMENT, "identifier": ["x"]}],
    [{**PAYMENT, "creditor": "a\u202eb"}],
    [{**PAYMENT, "creditor": "a\u0000b"}],
    [{**PAYMENT, "creditor": {"x" * 100: 1}}],
    [{"type": "other"}],
    [{"type": "unknown"}],
    [PAYMENT, {"type": "other"}],
    [PAYMENT] * 11,
    [{**PAYMENT, "creditor": list(range(200))}],
    NESTED,
    [{**PAYMENT, "creditor": [[[[[["x"]]]]]]}],
    "[" * 3000,
    '[{"type": "payment", "amount": "\\ud800"}]',
    [{**PAYMENT, "creditor": "x" * 9000}],
]
