"""Programs let people reset passwords and PINs, and replace lost passkeys."""
