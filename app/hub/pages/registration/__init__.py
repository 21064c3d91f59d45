"""Registration, and what completes it: verified addresses, missing fields."""
