"""Commands of `gatehouse theme` that read or write a theme folder."""
