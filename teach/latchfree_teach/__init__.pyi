"""The names of the package: `lazy_loader` reads them here, and so do the type checkers."""

__all__: list[str] = []
