"""What the commands `spec`, `graph` and `explore --along` do with bounded models of the specification."""
