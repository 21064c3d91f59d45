"""People sent to a page of the tenant in the middle of a sign-in, and back."""
