"""The tests. `python -m tests` runs all of them, each engine in a process of its own, and the checks of the code."""
