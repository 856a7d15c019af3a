"""SQLite's SQL, which the verbs speak, as that of PostgreSQL; what both understand alike is left as it is."""

from __future__ import annotations

import re
from functools import lru_cache

QUERIES = (
    ("%", "%%"),
    ("SELECT value FROM json_each(?)", "SELECT value::bigint FROM json_array_elements_text(?::json)"),
    ("?", "%s"),
)
# texts are compared by their bytes, as SQLite does, and not by the language of the server
TABLES = (
    (r"\bTEXT\b", 'TEXT COLLATE "C"'),
    (r"\bINTEGER\b", "BIGINT"),
    (r"\bREAL\b", "DOUBLE PRECISION"),
    (r"\bBLOB\b", "BYTEA"),
    (r" AUTOINCREMENT\b", ""),  # a number is always given
    (r"\)\s+WITHOUT ROWID\b", ")"),
    (r" DEFAULT \(strftime\([^)]*\)\)", ""),
)


@lru_cache(maxsize=1000)
def translated(query: str) -> str:
    """A query with its placeholders as psycopg writes them."""
    for here, there in QUERIES:
        query = query.replace(here, there)
    return query


def translated_tables(statements: str) -> str:
    """Statements that make tables."""
    for here, there in TABLES:
        statements = re.sub(here, there, statements)
    return statements
