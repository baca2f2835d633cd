"""Our own structures as targets of the explorer."""
