"""Tool registry of the domain: tool modules declare their tools here, in the order in which `domain` imports them."""

from __future__ import annotations

from opsgym_domains.calendar.words import WORDS
from opsgym_domains.kit.shapes import read_shapes
from opsgym_domains.kit.tools import Toolbox

TOOLBOX = Toolbox(read_shapes("opsgym_domains.calendar"), WORDS, own_checks=True)
tool = TOOLBOX.tool
