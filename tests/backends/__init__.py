"""Tests of the graph stores: one suite over every backend."""
