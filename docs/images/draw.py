"""Draw the plain pictures of the pages: `python docs/images/draw.py` writes them beside this file."""

from html import escape
from pathlib import Path

HERE = Path(__file__).parent
INK, FAINT, LIVE, OLD, SHARED = "#222222", "#888888", "#d7ebff", "#ffe4c9", "#eeeeee"


class Picture:
    """An SVG picture that grows by one shape a call."""

    def __init__(self, width: int, height: int, title: str) -> None:
        self.parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
            f' font-family="Helvetica, Arial, sans-serif" font-size="13" role="img">',
            f"<title>{escape(title)}</title>",
            '<defs><marker id="end" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" '
            f'orient="auto"><path d="M0 0L8 4L0 8z" fill="{INK}"/></marker></defs>',
            f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
        ]

    def text(self, x: int, y: int, words: str, *, colour: str = INK, anchor: str = "middle") -> None:
        """Write words whose baseline is at y."""
        self.parts.append(f'<text x="{x}" y="{y}" text-anchor="{anchor}" fill="{colour}">{escape(words)}</text>')

    def box(self, x: int, y: int, width: int, words: str, fill: str, *, round_: int = 3) -> None:
        """Draw a node of height 28 centred at x, with its top at y."""
        self.parts.append(
            f'<rect x="{x - width // 2}" y="{y}" width="{width}" height="28" rx="{round_}" fill="{fill}" '
            f'stroke="{INK}"/>'
        )
        self.text(x, y + 19, words)

    def arrow(self, x1: int, y1: int, x2: int, y2: int, *, dashed: bool = False) -> None:
        """Draw an arrow from one point to another."""
        dash = ' stroke-dasharray="4 3"' if dashed else ""
        self.parts.append(f'<path d="M{x1} {y1}L{x2} {y2}" stroke="{INK}" fill="none" marker-end="url(#end)"{dash}/>')

    def line(self, x1: int, y1: int, x2: int, y2: int) -> None:
        """Draw a faint line."""
        self.parts.append(f'<path d="M{x1} {y1}L{x2} {y2}" stroke="{FAINT}" fill="none"/>')

    def save(self, name: str, folder: Path) -> None:
        """Write the picture into a folder."""
        (folder / name).write_text("\n".join([*self.parts, "</svg>", ""]), encoding="utf-8")


def lost_update(folder: Path) -> None:
    """Draw two sales of which one is lost."""
    picture = Picture(640, 190, "Two threads each sell one tea; one of the two sales is lost")
    for y, who in ((60, "thread A"), (120, "thread B")):
        picture.text(16, y + 5, who, anchor="start")
        picture.line(90, y, 620, y)
    for x, y, words in ((150, 60, "read: 4"), (270, 120, "read: 4"), (400, 60, "write: 3"), (530, 120, "write: 3")):
        picture.box(x, y - 14, 86, words, LIVE if y == 60 else OLD)
    picture.text(16, 172, 'stock["tea"]', anchor="start")
    for x, value in ((150, "4"), (270, "4"), (400, "3"), (530, "3, but two were sold")):
        picture.text(x, 172, value)
    picture.text(350, 22, "time: from left to right", colour=FAINT)
    picture.save("lost-update.svg", folder)


def snapshot(folder: Path) -> None:
    """Draw a trie of three keys after a snapshot and one put: what is copied, and what is shared."""
    picture = Picture(680, 330, "A trie after a snapshot and put('tea', 5): one path is copied, the rest is shared")
    picture.text(170, 20, "snapshot (generation 1)")
    picture.text(480, 20, "live map (generation 2)")
    left, right = 170, 480
    for x, fill in ((left, OLD), (right, LIVE)):
        picture.box(x, 32, 70, "I-node", fill, round_=14)
        picture.arrow(x, 60, x, 84)
        picture.box(x, 86, 110, "C-node", fill)
        picture.box(x, 142, 70, "I-node", fill, round_=14)
        picture.arrow(x, 114, x, 140)
        picture.arrow(x, 170, x, 194)
        picture.box(x, 196, 110, "C-node", fill)
    picture.box(left, 260, 84, "tea: 4", OLD)
    picture.box(right, 260, 84, "tea: 5", LIVE)
    picture.box(325, 196, 84, "milk: 2", SHARED)
    picture.box(325, 260, 84, "rice: 9", SHARED)
    for x, side in ((left, 1), (right, -1)):
        picture.arrow(x, 224, x, 258)
        picture.arrow(x + side * 40, 114, 325 - side * 34, 194)
        picture.arrow(x + side * 55, 216, 325 - side * 44, 266)
    picture.text(
        340, 316, "orange: what only the snapshot sees; blue: what the put made; grey: what both share", colour=FAINT
    )
    picture.save("trie-snapshot.svg", folder)


def draw(folder: Path) -> None:
    """Write all pictures into a folder."""
    lost_update(folder)
    snapshot(folder)


if __name__ == "__main__":
    draw(HERE)
