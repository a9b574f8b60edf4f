"""The engines of Kuzu's line, in one implementation: Ladybug and Kuzu differ only in their dialect."""
