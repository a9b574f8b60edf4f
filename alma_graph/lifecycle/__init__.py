"""What happens to a memory after it was written: it is related, revised, forgotten."""
