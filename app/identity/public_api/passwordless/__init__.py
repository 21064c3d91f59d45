"""Programs sign people in by a mailed link or code, a text message, or another device."""
