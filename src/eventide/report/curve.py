"""Learning curves as a picture: the loss after each batch, a line for each fluent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from eventide.report.shapes import LINE, SOFT, Box, Picture, Stroke, Words, colour_of

LEFT, TOP, RIGHT, BOTTOM = 52.0, 34.0, 16.0, 40.0


def curve_picture(losses: Mapping[str, Sequence[float]], width: float = 720.0, height: float = 300.0) -> Picture:
    """Lines of losses over batches, from 0 to the largest.

    >>> picture = curve_picture({"moving": [4.0, 2.0, 1.5]})
    >>> picture.about
    'Mistakes by batch so far: moving from 4 to 1.5 after 3 batches'
    """
    about = "; ".join(f"{name} from {line[0]:g} to {line[-1]:g} after {len(line)} batches"
                      for name, line in losses.items() if line)
    picture = Picture(width, height, f"Mistakes by batch so far: {about or 'nothing was learnt'}")
    most = max((value for line in losses.values() for value in line), default=0.0) or 1.0
    longest = max(map(len, losses.values()), default=1)
    wide, high = width - LEFT - RIGHT, height - TOP - BOTTOM

    def place(number: int, value: float) -> tuple[float, float]:
        return LEFT + wide * number / max(longest - 1, 1), TOP + high * (1 - value / most)

    for share in (0.0, 0.5, 1.0):
        (left, y), (right, _) = place(0, most * share), place(longest - 1, 0)
        picture.shapes += [Stroke(((left, y), (max(right, left + wide), y)), LINE),
                           Words(LEFT - 6, y, f"{most * share:.3g}", SOFT, anchor="end")]
    picture.shapes += [Words(LEFT, height - 22, "1", SOFT), Words(width - RIGHT, height - 22, str(longest), SOFT,
                                                                 anchor="end"),
                       Words(LEFT + wide / 2, height - 22, "batches", SOFT, anchor="middle")]
    at = LEFT
    for number, (name, line) in enumerate(losses.items()):
        points = tuple(place(i, value) for i, value in enumerate(line))
        if len(points) == 1:
            points = (points[0], (LEFT + wide, points[0][1]))
        picture.shapes += [Box(at, 12, 10, 10, colour_of(number)), Words(at + 15, 17, name)]
        picture.shapes += [Stroke(points, colour_of(number), 1.6)] if points else []
        at += 30 + 7.0 * len(name)
    return picture
