"""Just-in-time linearization: all configurations, from event to event. Compiled code is in `kernels`."""
