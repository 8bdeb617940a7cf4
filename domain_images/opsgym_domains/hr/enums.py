"""Enumerations of HR service delivery.

Source: the values of the published tool schemas. Published seeds have statuses of cases in tasks too.
"""

from __future__ import annotations

from typing import Literal

CaseStatus = Literal[
    "draft",
    "ready",
    "awaiting_approval",
    "work_in_progress",
    "closed_complete",
    "closed_incomplete",
    "awaiting_acceptance",
    "suspended",
    "cancelled",
]
TaskStatus = Literal["draft", "ready", "work_in_progress", "closed_complete", "closed_incomplete", "cancelled"]
TaskType = Literal["checklist", "survey", "hr service", "mark when complete", "url"]
Priority = Literal["critical", "high", "moderate", "low", "planning"]
Source = Literal["self-service", "phone", "email", "chat", "walk-in", "virtual-agent"]
CoeType = Literal["HRIT", "Payroll", "Talent Management", "Total Rewards", "Workforce Administration"]
RequestStatus = Literal["approved", "rejected", "requested"]
AccountType = Literal["checking", "savings", "other"]
FulfillmentType = Literal["manual", "service_activity", "workflow", "lifecycle event", "advanced", "flow"]
CriteriaType = Literal["case_visibility", "approval"]
GroupType = Literal["IT Support", "Service Desk", "Field Support Technicians", "Infrastructure Problem Team"]
UserRole = Literal["admin", "agent", "manager", "employee"]
Gender = Literal["Male", "Female", "Other"]
MaritalStatus = Literal["Single", "Married", "Divorced"]
EmploymentType = Literal["full-time", "part-time", "contractor"]
Country = Literal["US", "GB", "CA", "IN", "DE", "FR", "JP", "CN", "AU", "BR"]
LocationType = Literal["Hotdesk", "Office Based", "Remote"]
Position = Literal["Software Engineer", "QA", "Manager", "HR", "IT Support", "Administration", "Sales"]
ArticleState = Literal["draft", "published", "retired"]
Visibility = Literal["internal", "external"]
LinkUse = Literal["suggested", "applied", "resolution"]
NotificationType = Literal["report", "update", "alert", "reminder", "solution_proposal", "other"]
