"""Tool registry of the domain: tool modules declare their tools here, in the order in which `domain` imports them."""

from __future__ import annotations

from opsgym_domains.kit.shapes import read_shapes
from opsgym_domains.kit.tools import Toolbox
from opsgym_domains.teams.words import WORDS

TOOLBOX = Toolbox(read_shapes("opsgym_domains.teams"), WORDS, unchecked=("pattern", "format"))
tool = TOOLBOX.tool
