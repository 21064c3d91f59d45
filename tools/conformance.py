"""Write docs/conformance.md: the plans of the OpenID Foundation's conformance suite, module by module, with the tests that show
the same here. Usage: `python -m tools.conformance`. The plans are in conformance.toml.
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from tools.specifications import links_to_tests, tests_named

ROOT = Path(__file__).resolve().parent.parent
PLANS = Path(__file__).with_name("conformance.toml")
TARGET = ROOT / "docs" / "conformance.md"
INTRODUCTION = """# OpenID conformance

The OpenID Foundation certifies providers with its [conformance suite](https://www.certification.openid.net).
These are its plans for what Gatehouse serves, module by module, with the tests in this repository that show the same.
The tests stand for the modules; they are no certificate. This page is written by `python -m tools.conformance`.

## Run the suite

The suite calls the provider over https, so serve an installation at a public host with a certificate
([operating.md](operating.md)). `examples/conformance.yaml` is a tenant for it:

1. In the file, replace `SUITE` in the redirect URIs by the host of the suite, the secrets by your own, and the public keys by
   those of the keys that you paste into the suite.
2. Run `gatehouse apply examples/conformance.yaml`.
3. In the suite, choose a plan, alias `gatehouse`, and the discovery address
   `https://conformance.<hub domain>/.well-known/openid-configuration`. Take the clients of the plan from the file: `suite-basic`,
   `suite-post` and `suite-second` for Basic, Hybrid, Implicit, Form Post and the logout plans, `suite-fapi` and `suite-fapi-second` for
   FAPI 2.0 with `private_key_jwt` and DPoP, `suite-fapi-mtls` and `suite-fapi-mtls-second` for FAPI 2.0 with mTLS, which needs a proxy
   that sends client certificates ([operating.md](operating.md)). The Dynamic and Third-Party-Initiated plans register their own.
4. Sign in as `ada@example.com` with the password of the file. The suite warns of claims that this account does not have, such as
   `address` and `picture`: add them by the management operation `PUT /identity/v2/manage/account/{uid}`.

Session Management and Front-Channel Logout need cookies in frames of other sites, which browsers block by default; run these plans
in a browser that allows them.
"""


def read() -> dict[str, dict[str, Any]]:
    """Return the plans, by name: `title`, and `modules` with the names of tests or the reason why the suite skips it.

    Raises:
        ValueError: a test does not exist.
    """
    plans: dict[str, dict[str, Any]] = tomllib.loads(PLANS.read_text())["plans"]
    return plans


def document() -> str:
    """Return the page as Markdown."""
    lines = [INTRODUCTION]
    for name, plan in read().items():
        lines += [f"## {plan['title']}\n", f"Plan `{name}`.\n", "| module | shown by |", "|---|---|"]
        lines += [f"| {module} | {_shown(what)} |" for module, what in plan["modules"].items()]
        lines.append("")
    return "\n".join(lines)


def _shown(what: list[str] | dict[str, str]) -> str:
    if isinstance(what, dict):
        return f"skipped: {what['skips']}"
    found = sorted({path for name in what for path in tests_named(name)})
    return links_to_tests(tuple(found))


if __name__ == "__main__":
    TARGET.write_text(document())
    print(f"{TARGET.relative_to(ROOT)} is written.")
