"""Look-ups and failure counters of sign-ins, alike for known and unknown identifiers."""
