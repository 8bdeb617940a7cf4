"""Tool registry of the domain: tool modules declare their tools here, in the order in which `domain` imports them."""

from __future__ import annotations

from opsgym_domains.kit.shapes import read_shapes
from opsgym_domains.kit.tools import Toolbox

WORDS = {
    "created_after": "Created at or after this time: YYYY-MM-DD HH:MM:SS, UTC",
    "created_before": "Created at or before this time: YYYY-MM-DD HH:MM:SS, UTC",
    "account_id": "Account id",
    "article_id": "Article id (knowledge id)",
    "case_id": "Case id",
    "case_kb_id": "Link id (case_kb_id)",
    "case_sla_id": "Case SLA id",
    "contact_id": "Contact id",
    "contract_id": "Contract id",
    "entitlement_id": "Entitlement id",
    "group_id": "Group id",
    "installed_product_id": "Installed product id",
    "interaction_id": "Interaction id",
    "knowledge_id": "Article id (knowledge id)",
    "location_id": "Location id",
    "member_id": "Membership id",
    "notification_id": "Notification id",
    "product_id": "Product id",
    "sla_def_id": "SLA definition id",
    "user_id": "User id",
}
"""Descriptions of arguments that no column describes."""

TOOLBOX = Toolbox(read_shapes("opsgym_domains.csm"), WORDS)
tool = TOOLBOX.tool
