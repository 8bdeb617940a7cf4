"""Encryption of runs of held-out suites.

Invariant: every object is encrypted with a nonce of its own, and one that was changed, moved, or encrypted with another
key does not open.
"""

from __future__ import annotations

import secrets

from opsgym_core.planning.held_out import sealing_key

_NONCE_BYTES = 12


class AesSeal:
    """AES-256-GCM with the key of a held-out seed.

    Args:
        seed: The secret seed.
    """

    def __init__(self, seed: str) -> None:
        # Imported here: only runs of held-out suites need it, and every pod would wait for it.
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM

        self._cipher = AESGCM(sealing_key(seed))

    def close(self, content: bytes, place: str) -> bytes:
        """The content, encrypted, after its nonce; it opens only at that place."""
        nonce = secrets.token_bytes(_NONCE_BYTES)
        return nonce + self._cipher.encrypt(nonce, content, place.encode())

    def open(self, content: bytes, place: str) -> bytes | None:
        """What `close` was given; None if another key encrypted it, or if it was changed or moved."""
        from cryptography.exceptions import InvalidTag

        try:
            return self._cipher.decrypt(content[:_NONCE_BYTES], content[_NONCE_BYTES:], place.encode())
        except (InvalidTag, ValueError):
            return None
