"""Judge histories on the workers: many at a time, a giant in parts, and one that kills its worker apart."""
