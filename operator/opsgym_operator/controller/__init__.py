"""The reconcile loops: observe, plan, apply."""
