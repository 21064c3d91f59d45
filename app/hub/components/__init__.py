"""What pages of several journeys show or share: error pages, sign-in methods, refusal notices, mailed links."""
