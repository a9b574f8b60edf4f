"""The catalogue bound to a store: `alma.queries["contradiction-map"](limit=20)` is a Table."""

from __future__ import annotations

import difflib
import html
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from alma_graph.errors import UnknownQueryError, shown
from alma_graph.queries.loader import RESERVED_PARAMETER, NamedQuery, load_catalogue
from alma_graph.results import Table

Run = Callable[[str, dict[str, Any]], Table]
"""Runs one reading statement with its parameters."""


class BoundQuery:
    """One query of the catalogue, bound to a store and a project. Call it with its parameters."""

    def __init__(self, query: NamedQuery, run: Run, project_id: str) -> None:
        self.query = query
        self._run = run
        self._project_id = project_id
        self.__doc__ = f"{query.description}\n\nParameters: {query.signature}\nColumns: {', '.join(query.returns)}"

    def __call__(self, **parameters: Any) -> Table:
        """Runs the query; parameters left out take their defaults.

        Raises:
            InvalidInputError: a parameter is unknown, missing, or not of its type.
            UnsupportedError: the store's engine has no Cypher.
        """
        return self._run(self.query.statement, {**self.query.bind(parameters), RESERVED_PARAMETER: self._project_id})

    def __repr__(self) -> str:
        return f"<query {self.query.signature}>"


class Catalogue(Mapping[str, BoundQuery]):
    """The named queries of a store, by name; a table of what there is in Jupyter."""

    def __init__(self, run: Run, project_id: str) -> None:
        self._queries = load_catalogue()
        self._run = run
        self._project_id = project_id

    def __getitem__(self, name: str) -> BoundQuery:
        query = self._queries.get(name) if isinstance(name, str) else None
        if query is None:
            near = difflib.get_close_matches(name, self._queries, n=1) if isinstance(name, str) else []
            hint = f"did you mean {near[0]!r}?" if near else "there are: " + ", ".join(self._queries)
            raise UnknownQueryError(f"no query {shown(name)} in the catalogue; {hint}")
        return BoundQuery(query, self._run, self._project_id)

    def __iter__(self) -> Iterator[str]:
        return iter(self._queries)

    def __len__(self) -> int:
        return len(self._queries)

    def __repr__(self) -> str:
        return f"<catalogue of {len(self)} queries: {', '.join(self)}>"

    def _repr_html_(self) -> str:
        rows = "".join(
            "<tr>"
            + "".join(
                f"<td>{html.escape(text)}</td>"
                for text in (query.signature, query.description, ", ".join(query.returns))
            )
            + "</tr>"
            for query in self._queries.values()
        )
        head = "<tr><th>query</th><th>what it shows</th><th>columns</th></tr>"
        return f"<table><thead>{head}</thead><tbody>{rows}</tbody></table>"
