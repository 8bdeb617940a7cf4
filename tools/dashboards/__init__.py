"""Makes the Grafana dashboards of the chart with the types of Grafana's own SDK."""
