"""The certificate with which the store gateway serves HTTPS.

Invariant: a connection gets the certificate that the files had `EVERY_S` seconds before, so renewing a Secret needs no
restart. Files that are not a valid certificate with its key leave the last good one in place.
"""

from __future__ import annotations

import asyncio
import ssl
from pathlib import Path

import structlog

from opsgym_api.errors import InputError, Problem

log = structlog.get_logger(__name__)

CHAIN, KEY = "tls.crt", "tls.key"
"""Files of a Secret of type `kubernetes.io/tls`."""
EVERY_S = 30.0
"""Seconds between two looks at the files."""


class ServerCertificate:
    """The certificate in a folder, where the kubelet shows a Secret.

    Args:
        folder: The folder.

    Raises:
        InputError: The files are missing, or not a valid certificate with its key.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._loaded: tuple[bytes, bytes] | None = None
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        """Its connections have the certificate that was loaded last."""
        try:
            self.refresh()
        except OSError as error:
            problem = f"not a certificate and its key: {error.strerror or error}"
            raise InputError(str(folder), [Problem(f"{CHAIN}, {KEY}", problem)]) from None

    def refresh(self) -> bool:
        """Loads the files if they differ from those that were loaded last; whether they did.

        Raises:
            OSError: They cannot be read, or are not a valid certificate with its key.
        """
        pair = ((self._folder / CHAIN).read_bytes(), (self._folder / KEY).read_bytes())
        if pair == self._loaded:
            return False
        # A context that refuses a pair may keep half of it, so another one tries the pair.
        for context in (ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER), self.context):
            context.load_cert_chain(self._folder / CHAIN, self._folder / KEY)
        self._loaded = pair
        return True

    async def follow(self, every_s: float = EVERY_S) -> None:
        """Loads the files again whenever they have changed, until cancelled.

        Args:
            every_s: Seconds between two looks.
        """
        while True:
            await asyncio.sleep(every_s)
            try:
                if self.refresh():
                    log.info("certificate loaded", folder=str(self._folder))
            except OSError as error:
                log.warning("certificate not loaded", folder=str(self._folder), problem=str(error))
