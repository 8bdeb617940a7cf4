"""Held-out suites: which variant a secret seed stands for, and the key that seals a run of it.

Invariant: neither the variant's number nor the key can be computed from what a run stores, and one seed always gives
the same variant. Numbers of held-out variants are larger than every one that a spec can name.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Mapping

from opsgym_api.errors import InputError, Problem
from opsgym_api.kinds.variants import LAST_PUBLIC

ENV_SEED = "OPSGYM_HELD_OUT_SEED"
"""Environment variable: the secret seed."""
LEAST_CHARACTERS = 32
"""Shorter seeds could be found by trying, from the rows of one."""
_ADVICE = "set it to a secret of 32 characters or more, for instance of `openssl rand -hex 32`"


def seed_of(environment: Mapping[str, str], source: str) -> str:
    """The secret seed in an environment.

    Args:
        environment: Environment variables.
        source: What asks for it, for messages.

    Raises:
        InputError: It is not set, or too short.
    """
    seed = environment.get(ENV_SEED, "").strip()
    if not seed:
        raise InputError(source, [Problem("spec.suite.heldOut", f"{ENV_SEED} is not set; {_ADVICE}")])
    if len(seed) < LEAST_CHARACTERS:
        raise InputError(source, [Problem("spec.suite.heldOut", f"{ENV_SEED} is too short; {_ADVICE}")])
    return seed


def held_out_variant(environment: Mapping[str, str], source: str) -> int:
    """The number of the variant of an environment's seed.

    Raises:
        InputError: The seed is not set, or too short.
    """
    return variant_of_seed(seed_of(environment, source))


def variant_of_seed(seed: str) -> int:
    """The number of the seed's variant, of 63 bits."""
    return LAST_PUBLIC + 1 + (int.from_bytes(_derived(seed, "variant")[:8]) >> 1)


def sealing_key(seed: str) -> bytes:
    """The key, of 32 bytes, with which runs of the seed are sealed."""
    return _derived(seed, "seal")


def _derived(seed: str, purpose: str) -> bytes:
    return hmac.new(seed.encode(), f"opsgym held-out {purpose}".encode(), hashlib.sha256).digest()
