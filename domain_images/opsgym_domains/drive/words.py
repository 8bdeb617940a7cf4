"""Words of a text, as a search compares them.

Invariant: `words_of` and the function `drive_words` of Postgres treat a text alike: letters lose case and accents, and
everything but letters, digits and signs outside ASCII stands between words. `drive_lexemes` are the words as an index
holds them, the longest cut, so what the index finds is compared again.
"""

from __future__ import annotations

from string import ascii_uppercase

from opsgym_domains.kit.letters import FOLDS, quoted

_SEPARATORS = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~\t\r\n"
_FOLDED = {**dict.fromkeys(_SEPARATORS, " "), **FOLDS}
_TABLE = str.maketrans({**{capital: capital.lower() for capital in ascii_uppercase}, **_FOLDED})
_ASCII = f"{quoted(_SEPARATORS)}, {quoted(' ' * len(_SEPARATORS))}"
_ALL = f"{quoted(''.join(_FOLDED))}, {quoted(''.join(_FOLDED.values()))}"
SEARCHED, LONGEST = 200_000, 500
"""Number of characters of a text that a search reads, and of a word that the index holds: Postgres takes less than 1 MB
and 2 KiB of them."""
_COST = 10_000
"""Cost of the functions for Postgres' planner, which has no statistics of new databases: high enough that it reads the
index and never computes the words of each row. The functions are in PL/pgSQL, since Postgres inlines SQL ones."""

FUNCTIONS = (
    f"""
    CREATE FUNCTION drive_words(data text) RETURNS text IMMUTABLE LANGUAGE plpgsql COST {_COST} AS $$
    DECLARE folded text := lower(left(data, {SEARCHED}));
    BEGIN
        folded := CASE WHEN octet_length(folded) = length(folded) THEN translate(folded, {_ASCII})
            ELSE translate(folded, {_ALL}) END;
        RETURN ' ' || btrim(regexp_replace(folded, ' +', ' ', 'g')) || ' ';
    END $$
    """,
    f"""
    CREATE FUNCTION drive_lexemes(data text) RETURNS tsvector IMMUTABLE LANGUAGE plpgsql COST {_COST} AS $$
    BEGIN
        RETURN coalesce((SELECT array_to_tsvector(array_agg(DISTINCT left(word, {LONGEST})))
            FROM unnest(string_to_array(btrim(drive_words(data)), ' ')) AS word WHERE word <> ''), '');
    END $$
    """,  # noqa: S608 - numbers and texts of our own
    """
    CREATE FUNCTION drive_property(data text, name text) RETURNS text IMMUTABLE LANGUAGE plpgsql AS $$
    BEGIN
        RETURN data::jsonb ->> name;
    EXCEPTION WHEN OTHERS THEN RETURN NULL;
    END $$
    """,
)
"""Functions of Postgres by which a search reads a row: `drive_words` is a text's words with a space around each,
`drive_lexemes` are they for an index, `drive_property` reads a property, of which seeds may have a text that is not
JSON."""


def words_of(text: str) -> list[str]:
    """The words of a text, in their order."""
    return [word for word in text.translate(_TABLE).split(" ") if word]


def lexemes(words: list[str], *, begins: bool) -> str:
    """Query of Postgres' text search for texts with all of the words.

    Args:
        words: Words, at least one.
        begins: Whether the last one need only be the begin of a word.
    """
    parts = [f"'{word[:LONGEST]}'" for word in words]
    return " & ".join([*parts[:-1], f"{parts[-1]}:*" if begins else parts[-1]])
