"""The names of the package: `lazy_loader` reads them here, and so do the type checkers."""

from .gallery.building import build_gallery
from .play.making import Play, mutant_page, play_page

__all__ = [
    "Play",
    "build_gallery",
    "mutant_page",
    "play_page",
]
