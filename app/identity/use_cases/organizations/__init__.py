"""What organizations do by email: invite people, decide requests to join, verify domains."""
