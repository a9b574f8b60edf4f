"""The query catalogue: named Cypher for analysts, one file each, documented by its header and run by a test.

queries = load_catalogue()
queries["contradiction-map"].parameters     # ("limit", int, default 20), ...
alma.queries["contradiction-map"](limit=5)  # the same, bound to a store: a Table
"""

from alma_graph.queries.catalogue import BoundQuery, Catalogue
from alma_graph.queries.loader import NamedQuery, QueryParameter, load_catalogue, parse_query

__all__ = ["BoundQuery", "Catalogue", "NamedQuery", "QueryParameter", "load_catalogue", "parse_query"]
