"""The flow of a write."""
