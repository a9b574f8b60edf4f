"""Questions to a store: retrieval, explanations, tables, counts and health. Nothing here writes a memory."""
