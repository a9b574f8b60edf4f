"""What of Memgraph's grammar the statements of the store and of the catalogue need, as a parser that refuses all else.

Written from the rules of its repository, src/query/frontend/opencypher/grammar: Cypher.g4 for clauses and expressions,
MemgraphCypher.g4 for indexes and procedures. Functions are those of the page "Functions" of its documentation, and
arguments and columns of procedures those of "Vector search" and "Text search" (3.11 and newer).
"""

from __future__ import annotations

import re
from collections.abc import Callable

_NAME = r"`[^`]+`"
ADMINISTRATION = [
    rf"CREATE CONSTRAINT ON \(n:{_NAME}\) ASSERT n\.{_NAME} IS UNIQUE",
    rf"(CREATE|DROP) INDEX ON :{_NAME}\({_NAME}\)",
    rf"CREATE TEXT INDEX \w+ ON :{_NAME}\({_NAME}\)",
    rf'CREATE VECTOR INDEX \w+ ON :{_NAME}\({_NAME}\) WITH CONFIG \{{("\w+": (\d+|"\w+")(, )?)+\}}',
    r"DROP (TEXT|VECTOR) INDEX \w+",
    "SHOW INDEX INFO",
    "SHOW CONSTRAINT INFO",
    "SHOW VERSION",
]
"""Rules constraintQuery, indexQuery, textIndexQuery, vectorIndexQuery, databaseInfoQuery, versionQuery."""

FUNCTIONS = set("coalesce count sum min max timestamp outDegree inDegree toLower length".split())

PROCEDURES = {
    "vector_search.search": ("'$$", {"distance", "node", "similarity"}),
    "vector_search.show_index_info": ("", {"index_name", "label", "property", "dimension", "capacity", "size"}),
    "text_search.search": ("'${", {"node", "score"}),
}
"""What each argument begins with, and the columns. The limit of a text search is a key of a map since 3.11."""

_TOKEN = re.compile(r"`[^`]+`|'[^']*'|\"[^\"]*\"|\$\w+|\d+\.\d+|\w+|<>|<=|>=|=~|\+=|->|<-|\.\.|[^\s\w]")
_KEYWORDS = set(
    "AND AS BY CALL CASE COUNT CREATE DELETE DESC DETACH DISTINCT ELSE END EXISTS IF IN IS LIMIT MATCH MERGE NOT NULL "
    "ON OPTIONAL OR ORDER REMOVE RETURN SET THEN UNION UNWIND WHEN WHERE WITH XOR YIELD".split()
)
_WRITING = {"CREATE", "MERGE", "SET", "DELETE", "REMOVE"}


class NotInGrammarError(Exception):
    """A statement that Memgraph does not document."""


def check(statement: str) -> None:
    """Raises NotInGrammarError unless the statement is one of the grammar above."""
    if not any(re.fullmatch(rule, statement) for rule in ADMINISTRATION):
        _Parser(statement).query()


class _Parser:
    """By recursive descent; each method is the rule of its name. Keywords are in capitals, and only they."""

    def __init__(self, statement: str) -> None:
        self._statement = statement
        self._tokens = _TOKEN.findall(statement)
        self._at = 0

    def query(self) -> None:
        """One or more clauses; what reads stands behind what writes only with a WITH between them."""
        written = False
        while self._at < len(self._tokens):
            if self._take("UNION"):
                self._take("ALL")
                written = False
            word = self._clause()
            if written and word in ("MATCH", "UNWIND", "CALL"):
                self._refuse()
            written = word in _WRITING or (written and word != "WITH")

    def _clause(self) -> str:
        word = self._next()
        if word in ("OPTIONAL", "DETACH"):
            word = self._expect("MATCH" if word == "OPTIONAL" else "DELETE")
        rules: dict[str, Callable[[], object]] = {
            "MATCH": self._match,
            "UNWIND": self._unwind,
            "MERGE": self._merge,
            "CREATE": lambda: self._list(self._pattern),
            "SET": lambda: self._list(self._set_item),
            "DELETE": lambda: self._list(self._expression),
            "REMOVE": lambda: self._list(self._remove_item),
            "WITH": self._with,
            "RETURN": self._body,
            "CALL": self._call,
        }
        if word not in rules:
            self._refuse()
        rules[word]()
        return word

    def _match(self) -> None:
        self._list(self._pattern)
        self._where()

    def _unwind(self) -> None:
        self._expression()
        self._expect("AS")
        self._name()

    def _merge(self) -> None:
        self._pattern()
        while self._take("ON"):
            if not self._take("CREATE"):
                self._expect("MATCH")
            self._expect("SET")
            self._list(self._set_item)

    def _set_item(self) -> None:
        self._name()
        if self._labels():
            return
        while self._take("."):
            self._name()
        if not self._take("+="):
            self._expect("=")
        self._expression()

    def _remove_item(self) -> None:
        self._name()
        if not self._labels():
            self._expect(".")
            self._name()

    def _body(self) -> None:
        self._take("DISTINCT")
        self._list(self._item)
        if self._take("ORDER"):
            self._expect("BY")
            self._list(self._sorted_by)
        if self._take("LIMIT"):
            self._expression()

    def _sorted_by(self) -> None:
        self._expression()
        self._take("DESC")

    def _with(self) -> None:
        self._body()
        self._where()

    def _item(self) -> None:
        self._expression()
        if self._take("AS"):
            self._name()

    def _call(self) -> None:
        procedure = self._name()
        while self._take("."):
            procedure += f".{self._name()}"
        if procedure not in PROCEDURES:
            self._refuse()
        arguments, columns = PROCEDURES[procedure]
        self._expect("(")
        given = ""
        while not self._take(")"):
            given += self._peek()[:1]
            self._expression()
            if self._peek() != ")":
                self._expect(",")
        self._expect("YIELD")
        yielded = {self._name()}
        while self._take(","):
            yielded.add(self._name())
        if given != arguments or not yielded <= columns:
            self._refuse()

    def _where(self) -> None:
        if self._take("WHERE"):
            self._expression()

    def _pattern(self) -> None:
        if self._peek() != "(":
            self._name()
            self._expect("=")
        self._node()
        while self._peek() in ("-", "<-"):
            to_left = self._next() == "<-"
            if self._take("["):
                self._relationship()
                self._expect("]")
            if to_left or not self._take("->"):
                self._expect("-")
            self._node()

    def _relationship(self) -> None:
        self._optional_name()
        self._expect(":")
        self._name()
        if self._take("*"):
            for part in (self._next(), self._expect(".."), self._next()):
                if not part.isdecimal() and part != "..":
                    self._refuse()
        if self._peek() == "{":
            self._map()

    def _node(self) -> None:
        self._expect("(")
        self._optional_name()
        self._labels()
        if self._peek() == "{":
            self._map()
        self._expect(")")

    def _labels(self) -> bool:
        found = False
        while self._take(":"):
            self._name()
            found = True
        return found

    def _expression(self) -> None:
        self._conjunction()
        while self._take("OR") or self._take("XOR") or self._take("AND"):
            self._conjunction()

    def _conjunction(self) -> None:
        while self._take("NOT"):
            pass
        self._sum()
        while self._peek() in ("=", "<>", "<", ">", "<=", ">="):
            self._next()
            self._sum()

    def _sum(self) -> None:
        self._tested()
        while self._take("+") or self._take("-") or self._take("*") or self._take("/"):
            self._tested()

    def _tested(self) -> None:
        self._atom()
        while True:
            if self._take("IS"):
                self._take("NOT")
                self._expect("NULL")
            elif self._take("IN"):
                self._atom()
            else:
                return

    def _atom(self) -> None:
        token = self._next()
        if token == "(":
            self._expression()
            self._expect(")")
        elif token == "[":
            if self._tokens[self._at + 1 : self._at + 2] == ["IN"]:
                self._filter()
            else:
                self._list(self._expression)
            self._expect("]")
        elif token == "EXISTS":
            # Without a WHERE: one that compares with a variable outside is refused by the server (its issue 4809).
            self._expect("{")
            self._expect("MATCH")
            self._pattern()
            self._expect("}")
        elif token == "{":
            self._at -= 1
            self._map()
        elif token == "CASE":
            while self._take("WHEN"):
                self._expression()
                self._expect("THEN")
                self._expression()
            if self._take("ELSE"):
                self._expression()
            self._expect("END")
        elif token[0] in "'\"$" or token[0].isdecimal() or token in ("true", "false", "NULL"):
            pass
        elif self._peek() == "(":
            self._function(token)
        else:
            self._at -= 1
            self._name()
            while self._take("."):
                self._name()
            self._labels()

    def _function(self, name: str) -> None:
        self._expect("(")
        if name == "any":
            self._filter()
        elif name in FUNCTIONS:
            self._take("DISTINCT")
            if not self._take("*") and self._peek() != ")":
                self._list(self._expression)
        else:
            self._refuse()
        self._expect(")")

    def _filter(self) -> None:
        self._name()
        self._expect("IN")
        self._sum()
        self._where()

    def _map(self) -> None:
        self._expect("{")
        self._list(self._pair)
        self._expect("}")

    def _pair(self) -> None:
        self._name()
        self._expect(":")
        self._expression()

    def _list(self, rule: Callable[[], object]) -> None:
        rule()
        while self._take(","):
            rule()

    def _optional_name(self) -> None:
        if re.fullmatch(r"\w+", self._peek()):
            self._name()

    def _name(self) -> str:
        token = self._next()
        if not re.fullmatch(r"`[^`]+`|[^\W\d]\w*", token) or token in _KEYWORDS:
            self._refuse()
        return token

    def _peek(self) -> str:
        return self._tokens[self._at] if self._at < len(self._tokens) else ""

    def _next(self) -> str:
        token = self._peek()
        self._at += 1
        return token or self._refuse()

    def _take(self, token: str) -> bool:
        found = self._peek() == token
        self._at += found
        return found

    def _expect(self, token: str) -> str:
        if self._next() != token:
            self._refuse()
        return token

    def _refuse(self) -> str:
        parts = self._tokens[: self._at]
        raise NotInGrammarError(f"{self._statement}\nwhich is refused behind: {' '.join(parts)}")
