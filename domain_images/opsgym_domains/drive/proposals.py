"""Access proposals: requests for a role on a file, which those who may share it decide."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from opsgym_domains.drive.forms import loaded, present, stamp
from opsgym_domains.drive.history import record_file
from opsgym_domains.drive.pages import page
from opsgym_domains.drive.reach import ROLES, holding, missing, principal, suffices
from opsgym_domains.drive.resources import Resource
from opsgym_domains.drive.sharing import grant_on_file, grantee, share_file
from opsgym_domains.drive.tables import AccessProposal, Permission
from opsgym_domains.drive.toolbox import tool
from opsgym_domains.kit.errors import ToolError, short
from opsgym_domains.kit.gym import Gym

GRANTED = ("commenter", "reader", "writer")
"""Roles that a proposal can be accepted with."""


@tool(row=AccessProposal)
async def get_accessproposals(gym: Gym, file_id: str, proposal_id: str) -> Resource:
    """Get a request for a role on a file that you may share.

    Returns who asks for which roles, and whether it was decided. Refused (PROPOSAL_NOT_FOUND) if the file has none with
    this id.
    """
    await share_file(gym, file_id)
    return _resource(await _proposal_of(gym, file_id, proposal_id))


@tool(
    changes=AccessProposal,
    words={
        "action": "Decision",
        "role": "Roles that the requester gets, required to accept: reader, commenter or writer",
        "view": "View that the permission belongs to",
    },
)
async def resolve_accessproposals(
    gym: Gym,
    file_id: str,
    proposal_id: str,
    action: str,
    role: Sequence[str] = (),
    view: str | None = None,
    **_: Any,
) -> None:
    """Accept or deny a request for a role on a file that you may share.

    Accepting gives the requester the highest of the roles, unless it has a higher one already. A request is decided
    once (PROPOSAL_RESOLVED). Returns nothing.
    """
    if action not in ("ACCEPT", "DENY"):
        raise ToolError("ACTION_REQUIRED", "action is ACCEPT or DENY", "action")
    if action == "ACCEPT" and (not role or not set(role) <= set(GRANTED)):
        message = f"accepting needs roles, each of {', '.join(GRANTED)}; not {short(list(role))}"
        raise ToolError("ROLE_REQUIRED", message, "role")
    granted = max(role, key=ROLES.index) if action == "ACCEPT" else None
    file = await share_file(gym, file_id, granted)
    proposal = await _proposal_of(gym, file_id, proposal_id)
    if proposal.status != "pending":
        raise ToolError("PROPOSAL_RESOLVED", f"the request {proposal.id} was {proposal.status} before", "proposalId")
    decided = {"resolved_at": stamp(gym.now()), "resolved_by_email": (await principal(gym)).email}
    if granted is not None:
        to = await grantee(gym, "user", proposal.requester_email, None)
        before = await gym.first(Permission, holding(Permission.file_id == file.id, to.same))
        if before is None or not suffices(before.role, granted):
            await grant_on_file(gym, file, granted, to, **({"view": view} if view else {}))
    proposal.granted = granted
    await gym.update(proposal, {"status": "approved" if granted else "denied", **decided})
    await record_file(gym, "file_updated", file, action="resolve_proposal")


@tool(row=AccessProposal)
async def list_accessproposals(gym: Gym, file_id: str, page_size: int = 100, page_token: str | None = None) -> Resource:
    """List the requests for roles on a file that you may share, the oldest first, also those that were decided.

    Returns `accessProposals` and the token of the next page.
    """
    await share_file(gym, file_id)
    rows = await gym.all(AccessProposal, AccessProposal.file_id == file_id)
    shown, more = page(rows, page_token, page_size)
    return {"accessProposals": list(map(_resource, shown)), **more}


async def _proposal_of(gym: Gym, file_id: str, proposal_id: str) -> AccessProposal:
    proposal = await gym.find(AccessProposal, id=proposal_id, file_id=file_id)
    if proposal is None:
        raise missing("Access proposal", "PROPOSAL_NOT_FOUND", proposal_id, "proposalId")
    return proposal


def _resource(proposal: AccessProposal) -> Resource:
    roles = [present({"role": role, "view": proposal.proposed_view}) for role in loaded(proposal.proposed_roles, [])]
    return present(
        {
            "fileId": proposal.file_id,
            "proposalId": proposal.id,
            "requesterEmailAddress": proposal.requester_email,
            "recipientEmailAddress": proposal.recipient_email,
            "rolesAndViews": roles,
            "requestMessage": proposal.request_message,
            "createTime": proposal.created_at,
            "status": proposal.status,
            "resolvedTime": proposal.resolved_at,
            "resolvedByEmailAddress": proposal.resolved_by_email,
        }
    )
