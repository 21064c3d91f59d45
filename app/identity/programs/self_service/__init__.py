"""What people change on their own accounts: profile, names, addresses, consent to the privacy policy, and leaving."""
