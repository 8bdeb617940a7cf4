"""What reaches an agent in mid-episode: messages of the user, amendments of the policy, and the new time.

Invariant: a notice is in the conversation that is going on when it arrives, at the place where it arrived, in every
later request of that conversation; conversations that begin later have it in their first messages.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from opsgym_runner.models.client import Message
from opsgym_runner.scenario.events import Notice


@dataclass
class _Conversation:
    length: int = 0
    """Number of messages of its previous request."""
    notices: dict[int, list[Notice]] = field(default_factory=dict)
    """Notices by the number of messages before them."""


class Notices:
    """Notices of one episode."""

    def __init__(self) -> None:
        self._conversations: dict[str, _Conversation] = {}
        self._all: list[Notice] = []

    def amended(self, system_prompt: str) -> str:
        """The system prompt with all amendments, for conversations that begin now."""
        texts = [notice.text for notice in self._all if notice.origin == "amend"]
        return "\n\n".join([system_prompt, *texts])

    def extended(self, request: str) -> str:
        """The request with the user's later messages and the latest time, for conversations that begin now."""
        messages = [notice.text for notice in self._all if notice.origin == "tell"]
        times = [notice.text for notice in self._all if notice.origin == "clock"]
        return "\n\n".join([request, *messages, *times[-1:]])

    def delivered(self, messages: Sequence[Message], new: Sequence[Notice], by: str) -> list[Message]:
        """A conversation as the model reads it, with its earlier and its new notices.

        Args:
            messages: The conversation; one that is shorter than before is a new one.
            new: Notices that arrived since the previous model call.
            by: Name of the conversation.
        """
        self._all += new
        conversation = self._conversations.setdefault(by, _Conversation())
        if len(messages) < conversation.length:
            conversation = self._conversations[by] = _Conversation()
        conversation.length = len(messages)
        if new:
            conversation.notices.setdefault(len(messages), []).extend(new)
        read: list[Message] = []
        for number, message in enumerate(messages, start=1):
            read.append(message)
            _append(read, conversation.notices.get(number, ()))
        return read


def _append(messages: list[Message], notices: Sequence[Notice]) -> None:
    """Appends notices: the time to the message before them if it is a tool's result or the user's, the rest as one
    message of the user.
    """
    texts = [notice.text for notice in notices]
    if texts and notices[0].origin == "clock" and messages[-1].get("role") in ("tool", "user"):
        before = messages[-1]
        messages[-1] = {**before, "content": f"{before.get('content') or ''}\n\n{texts.pop(0)}"}
    if texts:
        messages.append({"role": "user", "content": "\n\n".join(texts)})
