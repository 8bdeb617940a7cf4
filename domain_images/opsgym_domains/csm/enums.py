"""Enumerations of customer service.

Invariant: an enumeration's values are the published ones, in their order, so that schemas and stored values agree.
"""

from __future__ import annotations

from typing import Literal

Role = Literal["admin", "agent", "manager", "customer"]
GroupType = Literal["support", "backoffice", "field", "vendor"]

City = Literal["new_york", "london", "mumbai", "tokyo", "sydney"]
Country = Literal["usa", "uk", "india", "japan", "australia"]

AccountType = Literal["customer", "partner", "internal"]
ProductCategory = Literal["software", "hardware", "service"]
LifecycleState = Literal["active", "retired"]
InstalledStatus = Literal["in_use", "in_stock", "repair", "retired"]
ContractType = Literal["support", "warranty", "subscription"]
ContractStatus = Literal["draft", "active", "suspended", "expired"]
SupportLevel = Literal["standard", "premium", "enterprise"]
CoverageHours = Literal["h8x5", "h12x6", "h24x7"]

Channel = Literal["web", "email", "phone", "chat", "social", "alert", "community"]
Priority = Literal["critical", "high", "moderate", "low"]
CaseState = Literal["new", "in_progress", "pending", "resolved", "closed", "canceled"]
EscalationReason = Literal["urgency", "vip", "impact", "breach_risk", "customer_request"]
SlaMetric = Literal["response", "resolution"]
SlaStage = Literal["in_progress", "paused", "completed", "canceled"]
InteractionStatus = Literal["open", "handled", "closed"]
ArticleState = Literal["draft", "published", "retired"]
Visibility = Literal["internal", "external"]
UsedAs = Literal["suggested", "applied", "resolution"]
NotificationType = Literal["report", "update", "alert", "reminder", "solution_proposal", "next_steps", "other"]
NotificationStatus = Literal["success", "failed"]
