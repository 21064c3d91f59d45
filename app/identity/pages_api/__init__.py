"""The operations behind the hosted pages: the hub calls them, one per step of the visitor."""
