"""Programs sign people in by password or PIN, and by the second factor."""
