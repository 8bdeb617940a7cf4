"""Words of a text, as a search compares them.

Invariant: `folded` and the function `email_words` of Postgres treat a text alike: letters lose case and accents, and
separators take words and addresses apart. Postgres cannot do this by itself, since its locale is C.
"""

from __future__ import annotations

from opsgym_domains.kit.letters import FOLDS, quoted

SEPARATORS = "@._-+<>/:"
"""ASCII characters that stand between words, beside spaces."""
INDEXED = 250_000
"""Number of characters of a text that a search reads: Postgres' text search takes less than 1 MB of words."""
_FOLDS = {**dict.fromkeys(SEPARATORS, " "), **FOLDS}
_TABLE = str.maketrans(_FOLDS)


def folded(text: str) -> str:
    """A text without the differences that a search does not see."""
    return text.translate(_TABLE)


_ASCII = quoted(SEPARATORS), quoted(" " * len(SEPARATORS))
_ALL = quoted("".join(_FOLDS)), quoted("".join(_FOLDS.values()))

COST = 10_000
"""Cost of the functions for Postgres' planner, which has no statistics of new databases: high enough that it reads the
index and never computes the words of each row. The functions are in PL/pgSQL, since Postgres inlines SQL ones."""
FUNCTIONS = (
    f"""
    CREATE FUNCTION email_text(data text, size integer) RETURNS text IMMUTABLE LANGUAGE plpgsql COST {COST} AS $$
    DECLARE bare text := rtrim(translate(data, '-_', '+/'), '=');
    BEGIN
        IF octet_length(data) = size THEN RETURN data; END IF;
        RETURN convert_from(decode(rpad(bare, (length(bare) + 3) / 4 * 4, '='), 'base64'), 'UTF8');
    EXCEPTION WHEN OTHERS THEN RETURN data;
    END $$
    """,
    f"""
    CREATE FUNCTION email_words(words text) RETURNS tsvector IMMUTABLE LANGUAGE plpgsql COST {COST} AS $$
    BEGIN
        RETURN to_tsvector('simple'::regconfig, CASE
            WHEN octet_length(words) = length(words) THEN translate(left(words, {INDEXED}), {_ASCII[0]}, {_ASCII[1]})
            ELSE translate(left(words, {INDEXED}), {_ALL[0]}, {_ALL[1]}) END);
    END $$
    """,
    """
    CREATE FUNCTION email_near(first tsquery, second tsquery, distance integer) RETURNS tsquery IMMUTABLE
        LANGUAGE plpgsql AS $$
    DECLARE near tsquery := tsquery_phrase(first, second, 1);
    BEGIN
        FOR step IN 2..distance LOOP near := near || tsquery_phrase(first, second, step); END LOOP;
        RETURN near;
    END $$
    """,
)
"""Functions of Postgres by which a search reads a text: `email_text` decodes base64url where the size shows that a body
is stored so, `email_words` are the words of a text, `email_near` is the query for one text at most some words before
another."""
