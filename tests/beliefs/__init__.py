"""Tests of alma_graph.beliefs."""
