"""The command line, `alma-graph`. It translates, decides nothing, and loads heavy libraries only where it must."""

from alma_graph.cli.app import cli, main

__all__ = ["cli", "main"]
