"""What a seed needs before its rows are stored: files of chat messages as base64 text.

Invariant: every value of a seed afterwards is a number or a text, which is all that the stored tables hold.
"""

from __future__ import annotations

import base64

import apsw

_FILES = """
    SELECT hosted_content_id, content_bytes FROM chat_message_hosted_contents WHERE typeof(content_bytes) = 'blob'
"""
_STORE = "UPDATE chat_message_hosted_contents SET content_bytes = ? WHERE hosted_content_id = ?"


def complete(db: apsw.Connection) -> None:
    """Writes bytes of a seed that was executed as base64."""
    for key, content in list(db.execute(_FILES)):
        db.execute(_STORE, (base64.b64encode(content).decode(), key))
