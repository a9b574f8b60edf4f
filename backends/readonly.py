"""Which Cypher statements of a caller may run: one statement that only reads.

A read-only transaction is not enough: on the embedded engines `COMMIT; CREATE ...` leaves it, `COPY ... TO` writes
files, `LOAD FROM` reads any file and `CALL threads=1` changes settings. So a statement must, by its tokens,

- be one (a semicolon only at the end),
- begin with a clause that reads (`_FIRST`), after EXPLAIN or PROFILE,
- have no LOAD ... FROM and no CALL but of procedures that only look (`ReadRules.procedures`),
- use no function with an effect,
- be no longer and nested no deeper than the engines parse in good time (`MAX_LENGTH`, `MAX_NESTING`,
  `MAX_OPERATORS`): their time grows with the cube of the depth of lists and doubles with every CASE in a CASE, and no
  timeout of theirs ends it.

It is then prepared by the engine, which refuses several statements, and run in a read-only transaction, which refuses
every writing clause. Words in strings, comments, quoted names, properties and aliases are not clauses.

What differs between the languages of the engines stands in `ReadRules`. A server's session for reading refuses writing
clauses; what it lets through (LOAD CSV, USE of another database, procedures of plugins and of administration) is
refused here.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

from alma_graph.errors import CypherError, InvalidInputError, ReadOnlyError, shown

MAX_LENGTH = 100_000
"""Longest statement in characters; long lists belong into parameters."""
MAX_NESTING = 50
"""Deepest nesting of brackets; a CASE in a CASE counts as `CASE_WEIGHT` of them."""
CASE_WEIGHT = 5
MAX_OPERATORS = 1_000
"""Most arithmetic and comparing signs of a statement."""

_ESCAPE = re.compile(r"\\u", re.IGNORECASE)
_OPERATORS = frozenset("+-*/%^<>=")
_FIRST = frozenset({"MATCH", "OPTIONAL", "WITH", "UNWIND", "RETURN", "CALL"})
_PREFIXES = frozenset({"EXPLAIN", "PROFILE"})
_VERSIONS = frozenset({"5", "25"})
_KEYWORDS = frozenset(
    "AND AS ASC ASCENDING BY CASE CONTAINS DESC DESCENDING DISTINCT ELSE END ENDS EXISTS IN IS LIMIT MATCH NOT NULL "
    "OPTIONAL OR ORDER RETURN SKIP STARTS THEN UNION UNWIND WHEN WHERE WITH XOR".split()
)
"""Words that may stand behind a name; no procedure is called so."""


@dataclass(frozen=True, slots=True)
class ReadRules:
    """What a statement of one engine's language may use.

    Attributes:
        procedures: those that only look, in capitals.
        forbidden_functions: functions with an effect, in capitals.
        subqueries: CALL { } is part of the language.
        load_words: what follows LOAD where it reads files or addresses.
        function_roots: namespaces whose functions may be called, in capitals; None where functions have none.
        language_prefix: a statement may begin with CYPHER and the version of the language.
        use_clause: USE changes to another database.
        writing_words: clauses that write, where the engine itself does not refuse them in a reading session.
        escapes: the language reads \\uXXXX as a character wherever it stands, so that a word or the end of a string can
            hide in it.
    """

    procedures: frozenset[str]
    forbidden_functions: frozenset[str] = frozenset()
    subqueries: bool = False
    load_words: frozenset[str] = frozenset()
    function_roots: frozenset[str] | None = None
    language_prefix: bool = False
    use_clause: bool = False
    writing_words: frozenset[str] = frozenset()
    escapes: bool = False


EMBEDDED_RULES = ReadRules(
    procedures=frozenset(
        "SHOW_TABLES TABLE_INFO SHOW_CONNECTION DB_VERSION SHOW_FUNCTIONS SHOW_INDEXES STATS_INFO STORAGE_INFO "
        "CURRENT_SETTING".split()
    ),
    forbidden_functions=frozenset({"NEXTVAL"}),
)
NEO4J_RULES = ReadRules(
    procedures=frozenset(
        "DB.LABELS DB.RELATIONSHIPTYPES DB.PROPERTYKEYS DB.INFO DB.PING DB.SCHEMA.VISUALIZATION "
        "DB.SCHEMA.NODETYPEPROPERTIES DB.SCHEMA.RELTYPEPROPERTIES DB.INDEX.VECTOR.QUERYNODES "
        "DB.INDEX.FULLTEXT.QUERYNODES DB.INDEX.FULLTEXT.LISTAVAILABLEANALYZERS DBMS.COMPONENTS".split()
    ),
    subqueries=True,
    load_words=frozenset({"CSV"}),
    function_roots=frozenset("DATE DATETIME LOCALDATETIME TIME LOCALTIME DURATION POINT VECTOR".split()),
    language_prefix=True,
    use_clause=True,
    escapes=True,
)

_TOKEN = re.compile(
    r"""
    (?P<space>\s+)
  | (?P<comment>//[^\r\n]*|/\*.*?\*/)
  | (?P<string>'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")
  | (?P<quoted>`[^`]*`)
  | (?P<parameter>\$\w+)
  | (?P<number>\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)
  | (?P<word>[^\W\d]\w*)
  | (?P<symbol>[^\s'"`])
    """,
    re.VERBOSE | re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class ReadStatement:
    """A statement that may run, and the names of the parameters that it uses."""

    text: str
    parameters: frozenset[str]


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str
    text: str

    @property
    def word(self) -> str:
        """The word as the engines compare it; empty where it is none."""
        if self.kind == "word":
            return unicodedata.normalize("NFKC", self.text).upper()
        if self.kind == "quoted":
            return unicodedata.normalize("NFKC", self.text[1:-1]).upper()
        return ""


def check_statement(statement: str, rules: ReadRules = EMBEDDED_RULES) -> ReadStatement:
    """The statement, if it is one that only reads.

    Raises:
        ReadOnlyError: it is several statements, or does more than read; the message names the word.
        CypherError: a string, a comment or a quoted name does not end, or there is no statement.
        InvalidInputError: it is no text.
    """
    if not isinstance(statement, str):
        raise InvalidInputError(f"statement={shown(statement)} is {type(statement).__name__}; give Cypher as text")
    if len(statement) > MAX_LENGTH:
        raise CypherError(
            f"the statement has {len(statement):,} characters and may have {MAX_LENGTH:,}; bind long lists and texts "
            "as parameters"
        )
    if "\0" in statement:
        raise CypherError("the statement has a NUL character; bind it as a parameter instead")
    if rules.escapes and _ESCAPE.search(statement):
        raise ReadOnlyError(
            "the statement has a \\u escape, in which a word can hide; write the character itself, or bind the text as "
            "a parameter"
        )
    tokens = _tokens(statement)
    if rules.escapes and any(token.kind == "symbol" and token.text == "\\" for token in tokens):
        raise ReadOnlyError("the statement has a backslash outside of a string; remove it")
    while tokens and tokens[-1].text == ";":
        tokens.pop()
    if not tokens:
        raise CypherError("the statement is empty; write e.g. MATCH (m:Memory) RETURN count(*)")
    if any(token.kind == "symbol" and token.text == ";" for token in tokens):
        raise ReadOnlyError("only one statement at a time can run; there is a ';' between two")
    _check_size(tokens)
    _check_first(tokens, rules)
    for position, token in enumerate(tokens):
        _check_clause(tokens, position, token, rules)
    used = frozenset(token.text[1:] for token in tokens if token.kind == "parameter")
    return ReadStatement(statement, used)


def _check_size(tokens: list[_Token]) -> None:
    """Refuses what the engines would parse for minutes."""
    depth = cases = operators = 0
    for position, token in enumerate(tokens):
        if token.kind == "symbol":
            operators += token.text in _OPERATORS
            depth = max(0, depth + (token.text in "([{") - (token.text in ")]}"))
        elif token.kind == "word" and not _is_property(tokens, position):
            cases = max(0, cases + (token.word == "CASE") - (token.word == "END"))
        if depth + CASE_WEIGHT * cases > MAX_NESTING:
            raise CypherError(
                f"the statement nests {depth} brackets and {cases} CASE, and may nest {MAX_NESTING} brackets, where "
                f"a CASE counts as {CASE_WEIGHT}; write it flatter, or in steps with WITH"
            )
        if operators > MAX_OPERATORS:
            raise CypherError(f"the statement has more than {MAX_OPERATORS:,} operators; bind a list as a parameter")


def _tokens(statement: str) -> list[_Token]:
    tokens: list[_Token] = []
    position = 0
    while position < len(statement):
        if statement.startswith("/*", position) and statement.find("*/", position + 2) < 0:
            raise CypherError("a comment /* is not closed")
        found = _TOKEN.match(statement, position)
        if found is None:
            raise CypherError(f"what begins with {statement[position]} at position {position} is not closed")
        kind = found.lastgroup or ""
        if kind not in ("space", "comment"):
            tokens.append(_Token(kind, found.group()))
        position = found.end()
    return tokens


def _check_first(tokens: list[_Token], rules: ReadRules) -> None:
    position = 0
    if rules.language_prefix and tokens[0].word == "CYPHER" and len(tokens) > 1 and tokens[1].text in _VERSIONS:
        position = 2
    if position < len(tokens) and tokens[position].kind == "word" and tokens[position].word in _PREFIXES:
        position += 2 if len(tokens) > position + 1 and tokens[position + 1].word == "LOGICAL" else 1
    first = tokens[position] if position < len(tokens) else tokens[0]
    if first.kind != "word" or first.word not in _FIRST:
        raise ReadOnlyError(
            f"a statement here may only read, and this one begins with {shown(first.text)}; begin with MATCH, OPTIONAL "
            "MATCH, "
            "WITH, UNWIND, RETURN or CALL of a procedure that looks"
        )


def _check_clause(tokens: list[_Token], position: int, token: _Token, rules: ReadRules) -> None:
    """Refuses clauses that read elsewhere, CALL of what is not known to look only, and functions with effects."""
    word = token.word
    if not word:
        return
    name, after = [tokens[index] if index < len(tokens) else _Token("", "") for index in (position + 1, position + 2)]
    if word in rules.forbidden_functions and name.text == "(":
        raise ReadOnlyError(f"the function {token.text[:80]} has an effect; a statement here may only read")
    if (
        token.kind == "word"
        and word == "LOAD"
        and (name.word == "FROM" or (name.word == "WITH" and after.word == "HEADERS") or name.word in rules.load_words)
    ):
        raise ReadOnlyError(f"LOAD {name.text[:80]} reads files; a statement here may only read the store")
    if _is_property(tokens, position):
        return
    if rules.function_roots is not None and name.text == "." and not _is_procedure(tokens, position):
        _check_function(tokens, position, rules.function_roots)
    if token.kind != "word":
        return
    if rules.use_clause and word == "USE" and _is_name(name):
        raise ReadOnlyError(f"USE {name.text[:80]} leaves the store's database; a statement may only read that one")
    if word in rules.writing_words and (_is_name(name) or name.text in ("(", "`")):
        raise ReadOnlyError(f"{token.text[:80]} writes; a statement here may only read")
    if word == "CALL":
        _check_call(tokens, position, rules)


def _is_name(token: _Token) -> bool:
    return token.kind == "quoted" or (token.kind == "word" and token.word not in _KEYWORDS)


def _is_procedure(tokens: list[_Token], position: int) -> bool:
    return position > 0 and tokens[position - 1].kind == "word" and tokens[position - 1].word == "CALL"


def _dotted(tokens: list[_Token], position: int) -> tuple[str, str]:
    """The name that begins at a token, its parts joined by points, and the text of the token behind it."""
    parts = [tokens[position].word]
    position += 1
    while position + 1 < len(tokens) and tokens[position].text == "." and tokens[position + 1].word:
        parts.append(tokens[position + 1].word)
        position += 2
    return ".".join(parts), tokens[position].text if position < len(tokens) else ""


def _check_function(tokens: list[_Token], position: int, roots: frozenset[str]) -> None:
    name, behind = _dotted(tokens, position)
    if behind == "(" and name.partition(".")[0] not in roots:
        raise ReadOnlyError(
            f"the function {name.lower()[:80]} is not among those that only compute; a statement here may use the "
            f"namespaces {', '.join(sorted(roots)).lower()}"
        )


def _is_property(tokens: list[_Token], position: int) -> bool:
    """Whether the token is the name of a property: `m.call`, `last(x).call`. After a number, a point is not one."""
    if position < 2 or tokens[position - 1].text != ".":
        return False
    owner = tokens[position - 2]
    return owner.kind in ("word", "quoted") or owner.text in (")", "]")


def _check_call(tokens: list[_Token], position: int, rules: ReadRules) -> None:
    """`call` is a clause only before a name; before a keyword or a symbol it is a name itself."""
    name = tokens[position + 1] if position + 1 < len(tokens) else _Token("", "")
    if name.text == "{" and not rules.subqueries:
        raise ReadOnlyError("CALL { } is not supported here; write the subquery as MATCH or COUNT { MATCH ... }")
    if not _is_name(name):
        return
    procedure, behind = _dotted(tokens, position + 1)
    if procedure not in rules.procedures or behind != "(":
        raise ReadOnlyError(
            f"CALL {procedure.lower()[:80]} is not among the procedures that only look: "
            f"{', '.join(sorted(rules.procedures)).lower()}"
        )
