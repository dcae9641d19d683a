# SPDX-License-Identifier: BSD-3-Clause
"""The figures of the page "How it works": `python docs/pictures.py FOLDER`.

All figures come from runs of the library. The draws are replayed with the plain algorithm's
functions, to get A, its eigenvalues and both barriers at every draw.
"""

import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from matplotlib import style
from matplotlib.animation import PillowWriter
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, NullFormatter, NullLocator

from ridgewise import BSSSelector, LeverageSelector, RandomSelector
from ridgewise._typing import BoolArray, FloatArray, IndexArray
from ridgewise.barrier import sparsify_plain
from ridgewise.barrier._problem import RULES, Barriers, choose, inverse, scan_order, shifts, weigh
from ridgewise.report._style import BLUE, DASHES, FAINT, GREEN, GRID, INK, ORANGE, PINK, STYLE

# narrow figures with matching font sizes, readable on a phone
WIDTH = 6.0
LOOK = {
    **STYLE,
    "figure.facecolor": "white",
    "savefig.facecolor": "white",
    "axes.titlesize": 12,
    "font.size": 11,
}
DOTS_PER_INCH = 160
FRAMES_PER_SECOND, LAST_FRAMES = 6, 9

N_DRAWS = 48  # of 12 directions: s = 1/2, and everything promised is a round number
SHOWN = (0, 8, 16, 24, 36, 48)  # draws with their eigenvalues
MIDDLE = 24  # draws after which the potential is shown
CLOSE = 18  # draws after which all features are looked at
N_SEEDS = 100  # of the methods that are random
FEW_DRAWS = 12  # of 24 directions, where there are fewer than the rank

Selector = BSSSelector | LeverageSelector | RandomSelector

LOWER, UPPER = ORANGE, BLUE  # the barriers
DIVERGING = LinearSegmentedColormap.from_list("values", [BLUE, "white", ORANGE])


def lower_potential(L: float, A: FloatArray) -> float:
    """Phi(L, A) = tr (A - L)^-1."""
    return float(np.trace(inverse(A - L * np.eye(len(A)))))


def upper_potential(U: float, A: FloatArray) -> float:
    """Phi^(U, A) = tr (U - A)^-1."""
    return float(np.trace(inverse(U * np.eye(len(A)) - A)))


def make(folder: Path) -> None:
    """Write all figures to a folder, which is created if needed."""
    folder.mkdir(parents=True, exist_ok=True)
    X = example()
    run = replay(basis(X))
    drawings: dict[str, Callable[[], Figure]] = {
        "selection": lambda: draw_selection(X),
        "directions": draw_directions,
        "barriers": lambda: draw_barriers(run),
        "potential": lambda: draw_potential(run),
        "feasible": lambda: draw_feasible(run),
        "spectra": lambda: draw_spectra(X),
        "ridge": draw_ridge,
    }
    with style.context(["default", LOOK]):
        for name, draw in drawings.items():
            draw().savefig(folder / f"{name}.png", dpi=DOTS_PER_INCH)
        animate(run, folder / "barriers.gif")


def example() -> FloatArray:
    """Twelve samples of two groups, 500 features of very different scales: as on the page."""
    rng = np.random.default_rng(0)
    group = np.repeat([-1, 1], 6)[:, None]
    scale = rng.lognormal(size=500)
    return scale * (rng.normal(size=(12, 500)) + group * rng.normal(size=500))


def basis(X: FloatArray) -> FloatArray:
    """U of X = V S U^T, with a row for each feature."""
    return np.linalg.svd(X, full_matrices=False)[2].T


@dataclass(frozen=True)
class Run:
    """A run of the plain algorithm: ``A[tau]`` is what it had after tau draws."""

    U: FloatArray
    barriers: Barriers
    draws: IndexArray
    A: FloatArray

    @cached_property
    def eigenvalues(self) -> FloatArray:
        """Of A after every draw, shape (r + 1, l)."""
        return np.linalg.eigvalsh(self.A)


def replay(
    U: FloatArray, n_draws: int = N_DRAWS, penalty: FloatArray | None = None, rule: str = "norm"
) -> Run:
    """Run the plain algorithm, and recompute A from its draws, one by one."""
    found = sparsify_plain(U, n_draws, rule, penalty)
    barriers = Barriers(U.shape[1], n_draws, penalty)
    A = np.zeros((n_draws + 1, U.shape[1], U.shape[1]))
    for tau, i in enumerate(found.draws):
        lv, uv, _ = weigh(U[[i]], shifts(barriers, A[tau], tau))
        A[tau + 1] = A[tau] + 2 / (lv[0] + uv[0]) * np.outer(U[i], U[i])
    kept = (U[found.selected].T * found.weights) @ U[found.selected]
    np.testing.assert_allclose(A[-1] * barriers.weight_scale(n_draws), kept, atol=1e-9)
    return Run(U, barriers, found.draws, A)


def draw_selection(X: FloatArray) -> Figure:
    """The data and its kernel, the selected and weighted columns and theirs."""
    selector = BSSSelector(N_DRAWS, rule="slack", polish=True).fit(X)
    X_small = selector.transform(X)
    figure = Figure(figsize=(WIDTH, 4.3), layout="constrained")
    axes = figure.subplots(2, 2, width_ratios=(2.3, 1))
    titles = ("X: 12 samples, 500 features", r"$K = X X^T$")
    draw_pair(axes[0], X, titles)
    axes[0, 0].set_autoscale_on(False)
    axes[0, 0].plot(selector.selected_, np.full(N_DRAWS, 12.0), "^", color=INK, ms=4, clip_on=False)
    axes[0, 0].set_xlabel("the 48 features selected", labelpad=10)
    titles = ("the 48 features, weighted", r"$\tilde K$, from 48 features")
    draw_pair(axes[1], X_small, titles, np.abs(X @ X.T).max())
    return figure


def draw_pair(
    pair: tuple[Axes, Axes], X: FloatArray, titles: tuple[str, str], most: float | None = None
) -> None:
    """Data as colours, and its kernel; ``most`` is the upper limit of the kernel's colour scale."""
    K = X @ X.T
    strong = 2.5 * np.std(X)
    limits = strong, most or np.abs(K).max()
    for axes, values, limit, title in zip(pair, (X, K), limits, titles, strict=True):
        axes.imshow(values, cmap=DIVERGING, vmin=-limit, vmax=limit, aspect="auto")
        axes.set_title(title, weight="normal", pad=6)
        axes.set(xticks=[], yticks=[])
        axes.spines[:].set(visible=True, color=GRID)
    pair[1].set_box_aspect(1)


def few_features() -> FloatArray:
    """Two samples that agree in most of 60 features, and differ in the last three."""
    rng = np.random.default_rng(0)
    alike = 2 * rng.normal(size=57) + 0.3 * rng.normal(size=(2, 57))
    differ = np.array([[1], [-1]]) * rng.normal(4, 1, size=3)
    return np.hstack([alike, differ + rng.normal(size=(2, 3))])


def draw_directions() -> Figure:
    """Ellipses of eight of 60 features in two dimensions, by four methods."""
    X = few_features()
    U = basis(X)
    methods = {
        "at random": RandomSelector(8, random_state=0),
        "the longest": LeverageSelector(8, sampling="top"),
        "leverage sampling": LeverageSelector(8, random_state=0),
        "BSS": BSSSelector(8),
    }
    figure = Figure(figsize=(WIDTH, 7.1), layout="constrained")
    for axes, (name, selector) in zip(figure.subplots(2, 2).flat, methods.items(), strict=True):
        selector.fit(X)
        chosen, weights = U[selector.selected_], selector.weights_
        if np.all(weights == 1):
            weights = weights * 2 / np.sum(chosen**2)  # so that the eigenvalues' mean is 1
        draw_ellipse(axes, U, chosen * np.sqrt(weights)[:, None], name)
    handles, labels = axes.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=2)
    return figure


def draw_ellipse(axes: Axes, U: FloatArray, chosen: FloatArray, name: str) -> None:
    """Rows of U, those chosen, and the circle after G = sum w u u^T."""
    angle = np.linspace(0, 2 * np.pi, 361)
    circle = np.stack([np.cos(angle), np.sin(angle)])
    G = chosen.T @ chosen
    lower, upper = np.linalg.eigvalsh(G)
    least, most = Barriers(2, 8).promised(8)
    ring = np.hstack([most * circle, least * circle[:, ::-1]])
    axes.fill(*ring, color=GREEN, alpha=0.13, linewidth=0, label="promised by BSS")
    axes.plot(*spokes(U), color=FAINT, linewidth=0.8, label="a feature")
    axes.plot(*spokes(chosen), color=BLUE, linewidth=1.8, label="selected, weighted")
    axes.plot(*chosen.T, "o", color=BLUE, markersize=4)
    axes.plot(*circle, color=INK, linewidth=1.2, linestyle=DASHES, label="what all 60 keep")
    axes.plot(*(G @ circle), color=ORANGE, linewidth=2.4, label="what these 8 keep")
    axes.set(xlim=(-2.3, 2.3), ylim=(-2.3, 2.3), xticks=[], yticks=[], aspect="equal")
    axes.spines[:].set_visible(False)
    axes.set_title(f"{name}\n{lower:.2f} to {upper:.2f}", loc="center", pad=2, linespacing=1.4)


def spokes(rows: FloatArray) -> FloatArray:
    """Lines from the origin to every row, as one line with gaps."""
    ends = np.full((len(rows), 3, 2), np.nan)
    ends[:, 0], ends[:, 1] = 0, rows
    return ends.reshape(-1, 2).T


def draw_barriers(run: Run) -> Figure:
    """Eigenvalues between both barriers, draw after draw downwards."""
    figure = Figure(figsize=(WIDTH, 5.6), layout="constrained")
    axes = figure.subplots()
    taus = np.arange(N_DRAWS + 1)
    lower, upper = run.barriers.places(taus)
    left, right = line_limits(run)
    axes.fill_betweenx(taus, left, lower, color=LOWER, alpha=0.13, linewidth=0)
    axes.fill_betweenx(taus, upper, right, color=UPPER, alpha=0.13, linewidth=0)
    axes.plot(lower, taus, color=LOWER, linewidth=2.5)
    axes.plot(upper, taus, color=UPPER, linewidth=2.5)
    axes.plot(run.eigenvalues, taus, color=FAINT, linewidth=0.7)
    for tau in SHOWN:
        axes.plot([lower[tau], upper[tau]], [tau, tau], color=GRID, linewidth=1.5, zorder=1)
        axes.plot(run.eigenvalues[tau], np.full(12, tau), "o", color=INK, markersize=5, zorder=4)
        axes.plot(lower[tau], tau, "|", color=LOWER, markersize=17, markeredgewidth=3.5, zorder=5)
        axes.plot(upper[tau], tau, "|", color=UPPER, markersize=17, markeredgewidth=3.5, zorder=5)
    axes.text(5, -0.5, "all 12 at 0")
    axes.text(-27, 33, "lower\nbarrier", color=LOWER, weight="bold", linespacing=1.3)
    axes.text(160, 10, "upper\nbarrier", color=UPPER, weight="bold", linespacing=1.3)
    axes.set(xlim=(left, right), ylim=(N_DRAWS + 2, -3), yticks=SHOWN)
    axes.set(ylabel="draws", xlabel="eigenvalues of A")
    return figure


def line_limits(run: Run) -> tuple[float, float]:
    """From a little left of the first lower barrier to a little right of the last upper one."""
    return run.barriers.places(0)[0] - 8.0, run.barriers.places(N_DRAWS)[1] + 12.0


def animate(run: Run, file: Path) -> None:
    """Eigenvalues and barriers on a line, one frame per draw."""
    figure = Figure(figsize=(WIDTH, 1.9))
    axes = figure.add_axes((0.03, 0.27, 0.94, 0.56))
    axes.axhline(0, color=GRID, linewidth=1.5, zorder=0)
    axes.set(xlim=line_limits(run), ylim=(-1, 1), yticks=[], xlabel="eigenvalues of A")
    writer = PillowWriter(fps=FRAMES_PER_SECOND)
    with writer.saving(figure, file, dpi=110):
        for tau in [*range(N_DRAWS + 1), *[N_DRAWS] * LAST_FRAMES]:
            axes.set_title(f"after {tau} of {N_DRAWS} draws", pad=6)
            drawn = draw_frame(axes, run, tau)
            writer.grab_frame()
            for artist in drawn:
                artist.remove()


def draw_frame(axes: Axes, run: Run, tau: int) -> list[Artist]:
    """A's eigenvalues after tau draws, those before the last in grey, and barriers as walls."""
    left, right = line_limits(run)
    lower, upper = run.barriers.places(tau)
    before, now = run.eigenvalues[max(tau - 1, 0)], run.eigenvalues[tau]
    return [
        axes.axvspan(left, lower, color=LOWER, alpha=0.16, linewidth=0),
        axes.axvspan(upper, right, color=UPPER, alpha=0.16, linewidth=0),
        axes.axvline(lower, color=LOWER, linewidth=4),
        axes.axvline(upper, color=UPPER, linewidth=4),
        *axes.plot(before, np.zeros(12), "o", color=GRID, markersize=9),
        *axes.plot(now, np.zeros(12), "o", color=INK, markersize=9, alpha=0.85),
        axes.text(lower + 4, 0.62, "lower barrier", color=LOWER, weight="bold"),
        axes.text(upper - 4, -0.85, "upper barrier", color=UPPER, weight="bold", ha="right"),
    ]


def draw_potential(run: Run) -> Figure:
    """Potentials against the barriers' places at one draw, and against the draws."""
    figure = Figure(figsize=(WIDTH, 6.6), layout="constrained")
    places, by_draw = figure.subplots(2, 1, height_ratios=(1.2, 1))
    draw_landscape(places, run)
    taus = np.arange(N_DRAWS + 1)
    lower = [lower_potential(run.barriers.places(tau)[0], run.A[tau]) for tau in taus]
    upper = [upper_potential(run.barriers.places(tau)[1], run.A[tau]) for tau in taus]
    for potential, colour, name in ((lower, LOWER, "lower"), (upper, UPPER, "upper")):
        by_draw.axhline(potential[0], color=colour, linewidth=1.2, linestyle=DASHES)
        by_draw.plot(taus, potential, color=colour, linewidth=2.5)
        by_draw.annotate(
            f"of the {name} barrier: at most {potential[0]:.3g}",
            (N_DRAWS, potential[0]),
            xytext=(0, 5),
            textcoords="offset points",
            ha="right",
            color=colour,
            weight="bold",
        )
    by_draw.set(ylim=(0, 0.62), xlim=(0, N_DRAWS), xlabel="draws")
    by_draw.set_title("The potentials never grow")
    return figure


def draw_landscape(axes: Axes, run: Run) -> None:
    """What the potentials would be with the barriers elsewhere, in the middle of the run."""
    A, values = run.A[MIDDLE], run.eigenvalues[MIDDLE]
    left = np.linspace(-40, values[0] - 0.3, 400)
    right = np.linspace(values[-1] + 0.3, 200, 400)
    curves = (
        (
            left,
            lower_potential,
            LOWER,
            run.barriers.places(MIDDLE)[0],
            "lower\nbarrier",
            (-8, "right"),
        ),
        (
            right,
            upper_potential,
            UPPER,
            run.barriers.places(MIDDLE)[1],
            "upper\nbarrier",
            (8, "left"),
        ),
    )
    for places, potential, colour, barrier, name, (shift, side) in curves:
        axes.plot(places, [potential(x, A) for x in places], color=colour, linewidth=2.5)
        axes.axvline(barrier, ymax=0.8, color=colour, linewidth=3.5)
        axes.annotate(
            name,
            (barrier, 0.95),
            xytext=(shift, 0),
            textcoords="offset points",
            ha=side,
            va="top",
            color=colour,
            weight="bold",
        )
        axes.plot(barrier, potential(barrier, A), "o", color=colour, markersize=9, zorder=5)
    axes.plot(values, np.zeros(12), "o", color=INK, markersize=6, clip_on=False, zorder=5)
    axes.text(values.mean(), 0.8, "infinite\nat the dots", ha="center", va="center")
    axes.set(xlim=(-40, 200), ylim=(0, 1.2), xlabel="place of the barrier; dots: eigenvalues of A")
    axes.set_title(f"The potential, by the barrier's place, after {MIDDLE} draws")
    axes.grid(axis="y")


def draw_feasible(run: Run) -> Figure:
    """L(u) against U(u) of every feature at one draw, and which one each rule would take."""
    order = scan_order(np.sum(run.U**2, axis=1))
    lv, uv, feasible = weigh(run.U[order], shifts(run.barriers, run.A[CLOSE], CLOSE))
    drawn = np.isin(order, run.draws[:CLOSE])
    figure = Figure(figsize=(WIDTH, 5.8), layout="constrained")
    axes = figure.subplots()
    limits = np.array([1e-6, 5e-2])
    axes.fill_between(limits, limits, limits[1], color=GREEN, alpha=0.1, linewidth=0)
    axes.plot(limits, limits, color=INK, linewidth=1.2, linestyle=DASHES)
    looks: tuple[tuple[str, BoolArray, dict[str, str]], ...] = (
        ("not feasible", ~feasible & ~drawn, {"color": FAINT}),
        ("feasible", feasible & ~drawn, {"color": GREEN}),
        ("drawn before", drawn, {"color": "none", "markeredgecolor": INK}),
    )
    for name, some, look in looks:
        label = f"{name}: {np.count_nonzero(some)}"
        axes.plot(uv[some], lv[some], "o", markersize=5, label=label, **look)
    for rule, colour, marker in zip(RULES, (ORANGE, BLUE, PINK), "sD^", strict=True):
        i = choose(rule, lv, uv, feasible & ~drawn)
        axes.plot(uv[i], lv[i], marker, color=colour, markersize=11, label=f"taken by {rule}")
    axes.set(xscale="log", yscale="log", xlim=limits, ylim=limits, aspect="equal")
    axes.set(xlabel="U(u) = 1 / the most weight it may have")
    axes.set(ylabel="L(u) = 1 / the least weight it must have")
    axes.legend(loc="upper left", bbox_to_anchor=(0, 0.98), labelspacing=0.35)
    return figure


def draw_spectra(X: FloatArray) -> Figure:
    """Final eigenvalues of several methods, and the range over seeds."""
    methods = {
        "BSS, norm": (BLUE, BSSSelector(N_DRAWS)),
        "BSS, slack": (BLUE, BSSSelector(N_DRAWS, rule="slack")),
        "slack, polished": (BLUE, BSSSelector(N_DRAWS, rule="slack", polish=True)),
        "leverage sampling": (ORANGE, LeverageSelector(N_DRAWS)),
        "random": (FAINT, RandomSelector(N_DRAWS)),
    }
    U = basis(X)
    labels = []
    figure = Figure(figsize=(WIDTH, 4.5), layout="constrained")
    axes = figure.subplots()
    for place, (name, (colour, selector)) in enumerate(methods.items()):
        spectra = over_seeds(U, X, selector)
        ends = np.min(spectra), np.max(spectra)
        axes.plot(ends, [place, place], color=colour, linewidth=1.5)
        axes.plot(spectra[0], np.full(12, place), "o", color=colour, markersize=7, alpha=0.75)
        labels.append(f"{name}\n{ends[0]:.2f} to {ends[1]:.2f}")
    promised = Barriers(12, N_DRAWS).promised(N_DRAWS)
    axes.axvspan(*promised, color=GREEN, alpha=0.13, linewidth=0, zorder=0)
    axes.text(0.75, -0.62, "promised by BSS", color=GREEN, weight="bold", ha="center")
    axes.axvline(1, ymax=0.92, color=INK, linewidth=1, linestyle=DASHES, zorder=0)
    axes.set_xscale("log")
    axes.xaxis.set_major_locator(FixedLocator([0.01, 0.03, 0.1, 0.25, 1, 2.25, 10]))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda share, _: f"{share:g}"))
    axes.xaxis.set(minor_locator=NullLocator(), minor_formatter=NullFormatter())
    axes.set(ylim=(4.5, -0.9), xlabel="kept of a direction (1: as with all features)")
    axes.set_yticks(range(len(methods)), labels, linespacing=1.3)
    return figure


def over_seeds(U: FloatArray, X: FloatArray, selector: Selector) -> list[FloatArray]:
    """The spectrum of a selection; of random methods, for many seeds."""
    if isinstance(selector, BSSSelector):
        return [spectrum(U, selector.fit(X))]
    return [spectrum(U, selector.set_params(random_state=i).fit(X)) for i in range(N_SEEDS)]


def spectrum(U: FloatArray, selector: Selector) -> FloatArray:
    """Eigenvalues of sum w u u^T; of random features, scaled so that their mean is 1."""
    rows = U[selector.selected_]
    values = np.linalg.eigvalsh((rows.T * selector.weights_) @ rows)
    return values / values.mean() if isinstance(selector, RandomSelector) else values


def decaying() -> FloatArray:
    """Samples and features with strong and weak directions: 24 x 500."""
    rng = np.random.default_rng(0)
    left = np.linalg.qr(rng.normal(size=(24, 24)))[0]
    return left / np.arange(1, 25) @ rng.normal(size=(24, 500))


def draw_ridge() -> Figure:
    """Half as many draws as directions: barriers by direction, and what a ridge model sees."""
    X = decaying()
    alpha = BSSSelector(FEW_DRAWS).fit(X).certificate_.alpha
    penalty = alpha / np.linalg.svd(X, compute_uv=False) ** 2
    run = replay(basis(X), FEW_DRAWS, penalty)
    G = run.A[-1] * run.barriers.weight_scale(run.barriers.n_draws)
    figure = Figure(figsize=(WIDTH, 7.0), layout="constrained")
    top, bottom = figure.subplots(2, 1, height_ratios=(1.5, 1))
    draw_barriers_by_direction(top, run, penalty, np.diag(G))
    seen = np.linalg.eigvalsh((G + np.diag(penalty)) / np.sqrt(np.outer(1 + penalty, 1 + penalty)))
    directions = np.arange(1, len(penalty) + 1)
    bottom.axhspan(
        *run.barriers.promised(run.barriers.n_draws), color=GREEN, alpha=0.13, linewidth=0
    )
    bottom.axhline(1, color=INK, linewidth=1, linestyle=DASHES)
    bottom.plot(directions, seen[::-1], "o", color=INK, markersize=6)
    bottom.set(ylim=(0, 2.5), xticks=[1, 6, 12, 18, 24])
    bottom.set_yticks([0, 0.25, 1, 2.25], ["0", "0.25", "1", "2.25"])
    bottom.set_xlabel("directions, from the most to the least kept")
    bottom.set_title(r"What a ridge model sees: $\tilde K + \alpha$ against $K + \alpha$")
    return figure


def draw_barriers_by_direction(axes: Axes, run: Run, penalty: FloatArray, kept: FloatArray) -> None:
    """Both barriers at the start and at the end, in the scale of the weights."""
    directions = np.arange(1, len(penalty) + 1)
    far = run.barriers.start * penalty
    looks = ((0, (0, (2, 2)), "start"), (FEW_DRAWS, "-", "end"))
    for tau, dashes, when in looks:
        lower = (run.barriers.places(tau)[0] - far) * run.barriers.weight_scale(
            run.barriers.n_draws
        )
        upper = (
            run.barriers.places(tau)[1] + run.barriers.delta_U * far
        ) * run.barriers.weight_scale(run.barriers.n_draws)
        for values, colour, name in ((lower, LOWER, "lower"), (upper, UPPER, "upper")):
            label = f"{name} barrier, {when}"
            axes.plot(
                directions, values, color=colour, linewidth=2.4, linestyle=dashes, label=label
            )
    axes.fill_between(directions, lower, -9, color=LOWER, alpha=0.13, linewidth=0)
    axes.fill_between(directions, upper, 99, color=UPPER, alpha=0.13, linewidth=0)
    axes.plot(directions, kept, "o", color=INK, markersize=6, label="kept by 12 features", zorder=4)
    even = float(np.interp(1, penalty, directions))  # at s = 1/2, the lower barrier ends at 0 there
    axes.annotate(
        r"here $\sigma^2 = \alpha$",
        (even, 0),
        xytext=(6.2, 1.5),
        arrowprops={"arrowstyle": "-|>", "color": INK, "shrinkB": 1},
    )
    axes.axhline(0, color=INK, linewidth=0.8)
    axes.set(ylim=(-2, 6), xlim=(0.6, 12.4), xticks=[1, 3, 6, 9, 12])
    axes.set_xlabel("the 12 strongest of 24 directions of the data")
    axes.set_title("Barriers that start farther away in weak directions")
    axes.legend(loc="upper right")


if __name__ == "__main__":
    make(Path(sys.argv[1]))
