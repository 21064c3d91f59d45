"""Parts that several pages share: error pages, sign-in methods, refusal notices, mailed links."""
