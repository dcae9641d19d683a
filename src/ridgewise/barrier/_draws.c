/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Draws among the rows of a pool between two decompositions of A: what the engine does by NumPy,
 * without the cost of calling it. See _engine.py for what a draw is.
 *
 * Bounds leave few rows to compute closely. Each row is known by two numbers at a place x0 that the
 * lower barrier has not passed yet, h = u^T N u and h' = u^T N^2 u, N = (A - x0)^-1. They are sums
 * over the eigenvalues of A of y = 1 / (eigenvalue - x0), and of y^2, with the same positive weights.
 * The barrier being at x = x0 - delta, L(u) is the sum of y F(y), with those weights and
 *
 *     F(y) = y / (change (1 + delta y)^2) - 1 / (1 + delta y)
 *          = v (1 - v) / (change delta) - v,    v = 1 / (1 + delta y).
 *
 * F is concave and increasing up to its maximum, at v = (1 - change delta) / 2, and so L(u) <= h F(y)
 * at y = h' / h or at the maximum, whichever comes first, by Jensen's inequality.
 *
 * U(u) is at least q + q^2 / (norm^2 change) for any q <= u^T N u of the upper barrier, and there N
 * is at least what it would be with A as decomposed, since A has only grown. Two numbers more, H and
 * H' of that at y0 = y + delta, where the barrier will be at last, give such a q at any y before it,
 * by Jensen's inequality again: H / (1 - delta H' / H).
 */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "_resolvent.h"

static const double SPARE = 1 - 1e-6, ROUNDING = 1e-8; /* more than the bounds' errors */

enum { CHUNK = 16 };
enum rule { NORM, SLACK, RATIO };
enum state { DONE, NONE_FEASIBLE, LOST_DEFINITENESS, NO_MEMORY };

/* Input and output; _compiled.py has the same fields. Pairs are lower and upper barrier. */
#define FIELDS(X)                                                                        \
    X(int64_t, l, )           /* length of a row */                                      \
    X(int64_t, n_rows, )      /* of the pool */                                          \
    X(int64_t, rule, )                                                                   \
    X(int64_t, again, )       /* whether selected rows may be drawn, if no other can */  \
    X(int64_t, n_drawn, )     /* in and out: draws since the decomposition */            \
    X(int64_t, most, )        /* ... of which at most so many */                         \
    X(int64_t, n_looked_at, ) /* out: rows computed closely */                           \
    X(double, near_tie, )                                                                \
    X(double, least, )        /* a lower bound of the lower T's eigenvalues */           \
    X(double, place, [2])     /* of the barriers, at the decomposition ... */            \
    X(double, step, [2])      /* ... and by how much a draw moves them */                \
    X(double, potential, [2]) /* in and out */                                           \
    X(const double *, rows, [2])                                                         \
    X(const double *, norms2, )                                                          \
    X(const double *, diagonal, [2]) /* of T ... */                                      \
    X(const double *, off, [2])      /* ... and beside its diagonal */                   \
    X(uint8_t *, selected, )  /* in and out */                                           \
    X(double *, Z, [2])       /* in and out: rows drawn ... */                           \
    X(double *, t, )          /* ... and their weights */                                \
    X(int64_t *, drawn, )     /* out: their places in the pool */

#define DECLARE(type, name, size) type name size;
typedef struct {
    FIELDS(DECLARE)
} Block;

/* What _compiled.py compares its own fields with. */
#define NAME(type, name, size) #name,
#define OFFSET(type, name, size) offsetof(Block, name),
const char *const field_names[] = {FIELDS(NAME) "size"};
const int64_t field_offsets[] = {FIELDS(OFFSET) sizeof(Block)};
const int64_t n_fields = sizeof field_offsets / sizeof *field_offsets;

typedef struct {
    Resolvent lower, upper;
    Resolvent node, beyond;         /* at x0, and at y0 with A as decomposed */
    double x0, y0;
    int64_t n_known;                /* rows with known numbers: h, h', H, H' */
    double *known[4];
    double *lv, *uv;                /* bounds on L and U of the rows */
    double *spare[FOUR];
} Work;

typedef struct {
    double lv, uv, term;            /* L(u), U(u), and L's positive term */
    Forms lower, upper;
} Candidate;

/* Compute the known numbers of the next four rows. */
KERNEL void know_more(Work *work, const Block *block)
{
    const int64_t l = block->l, last = block->n_rows - 1;
    const Resolvent *at[2] = {&work->node, &work->beyond};
    int64_t rows[FOUR];
    for (int c = 0; c < FOUR; c++) rows[c] = work->n_known + c < last ? work->n_known + c : last;
    for (int side = 0; side < 2; side++) {
        const double *z[FOUR];
        for (int c = 0; c < FOUR; c++) z[c] = block->rows[side] + rows[c] * l;
        times_four(at[side], z, work->spare);
        for (int c = 0; c < FOUR; c++) {
            const Forms found = forms(l, z[c], work->spare[c]);
            work->known[2 * side][rows[c]] = found.plain;
            work->known[2 * side + 1][rows[c]] = found.square;
        }
    }
    work->n_known = rows[FOUR - 1] + 1;
}

/* Bounds of some rows: L(u) or more, with what a near-tie allows; U(u) or less. */
KERNEL void bound(Work *work, const Block *block, int64_t start, int64_t stop, double x, double y)
{
    while (work->n_known < stop) know_more(work, block);
    const double *h = work->known[0], *slope = work->known[1];
    const double *H = work->known[2], *Slope = work->known[3], *norms2 = block->norms2;
    const double delta = work->x0 - x, Delta = work->y0 - y;
    const double share = (1 + 2 * block->near_tie + ROUNDING) / work->lower.change;
    const double top = 0.5 * (1 - delta / share); /* v of the maximum, and F there */
    const double F_top = top > 0 ? top * ((1 - top) * share / delta - 1) : 0;
    const double change = work->upper.change;
    double *restrict lv = work->lv, *restrict uv = work->uv;
#pragma omp simd
    for (int64_t row = start; row < stop; row++) {
        const double r = 1 / (h[row] + delta * slope[row]), v = h[row] * r;
        const double q = H[row] * (H[row] / (H[row] - Delta * Slope[row]));
        const double F = v > top ? v * (slope[row] * r * share - 1) : F_top;
        const double least = SPARE * (q + q * (q / (norms2[row] * change))); /* q * q may be 0 */
        const int is_known = h[row] > 0 && least > 0;
        lv[row] = is_known ? h[row] * F : INFINITY;
        uv[row] = is_known ? least : 0;
    }
}

/* Keep the known numbers up with a draw, which makes N - c c^T of N. */
KERNEL void follow(Work *work, const Block *block, const double *z, double t)
{
    Resolvent *N = &work->node;
    const int64_t l = N->l, k = N->k;
    double *c = N->C + k * l, *Nc = work->spare[0];
    times(N, z, c);
    if (!add(N, z, t)) {
        work->x0 = -INFINITY; /* rounding: place x0 anew */
        return;
    }
    N->k = k;
    times(N, c, Nc);
    N->k = k + 1;
    const double length2 = dot(l, c, c);
    for (int64_t row = 0; row < work->n_known; row++) {
        if (block->selected[row] && !block->again) continue;
        const double *u = block->rows[0] + row * l;
        double cu = 0, Ncu = 0;
#pragma omp simd reduction(+ : cu, Ncu)
        for (int64_t i = 0; i < l; i++) cu += c[i] * u[i], Ncu += Nc[i] * u[i];
        work->known[0][row] -= cu * cu;
        work->known[1][row] -= cu * (2 * Ncu - cu * length2);
    }
}

/* L of one row. */
INLINE void weigh_lower(Work *work, Block *block, int64_t row, Candidate *u)
{
    const double *z = block->rows[0] + row * block->l;
    block->n_looked_at++;
    times(&work->lower, z, work->spare[0]);
    u->lower = forms(block->l, z, work->spare[0]);
    u->term = u->lower.square / work->lower.change;
    u->lv = u->term - u->lower.plain;
}

/* U of it. */
INLINE void weigh_upper(Work *work, const Block *block, int64_t row, Candidate *u)
{
    const double *z = block->rows[1] + row * block->l;
    times(&work->upper, z, work->spare[0]);
    u->upper = forms(block->l, z, work->spare[0]);
    u->uv = u->upper.square / work->upper.change + u->upper.plain;
}

INLINE int is_feasible(const Block *block, const Candidate *u)
{
    return u->lv > 0 && u->lv >= u->uv - block->near_tie * u->term;
}

INLINE double preference(const Block *block, double lv, double uv)
{
    return block->rule == SLACK ? lv - uv : lv / uv;
}

/* What the rule makes of one row; -inf where it is infeasible, or not as good as that. */
INLINE double rate(Work *work, Block *block, int64_t row, double as_good_as, Candidate *u)
{
    weigh_lower(work, block, row, u);
    if (preference(block, u->lv, work->uv[row]) < as_good_as) return -INFINITY;
    weigh_upper(work, block, row, u);
    return is_feasible(block, u) ? preference(block, u->lv, u->uv) : -INFINITY;
}

/* The first feasible row, or -1: of those that are selected, or of the others. */
KERNEL int64_t first_feasible(Work *work, Block *block, int selected, double x, double y,
                              Candidate *u)
{
    for (int64_t row = 0; row < block->n_rows; row++) {
        if (row % CHUNK == 0) {
            const int64_t stop = row + CHUNK < block->n_rows ? row + CHUNK : block->n_rows;
            bound(work, block, row, stop, x, y);
        }
        if (block->selected[row] != selected || work->lv[row] < work->uv[row]) continue;
        weigh_lower(work, block, row, u);
        if (u->lv < work->uv[row] - block->near_tie * u->term) continue;
        weigh_upper(work, block, row, u);
        if (is_feasible(block, u)) return row;
    }
    return -1;
}

/* The feasible row that the rule prefers, or -1. Of near-ties it is the first. */
KERNEL int64_t best_feasible(Work *work, Block *block, int selected, double x, double y,
                             Candidate *u)
{
    double *hopes = work->lv, best = -INFINITY;
    int64_t row, most_hopeful = -1;
    bound(work, block, 0, block->n_rows, x, y);
    for (row = 0; row < block->n_rows; row++) {
        const int is_out = block->selected[row] != selected || work->lv[row] < work->uv[row];
        hopes[row] = is_out ? -INFINITY : preference(block, work->lv[row], work->uv[row]);
        if (hopes[row] > best) best = hopes[row], most_hopeful = row;
    }
    if (most_hopeful < 0) return -1;
    best = hopes[most_hopeful] = rate(work, block, most_hopeful, -INFINITY, u);
    for (row = 0; row < block->n_rows; row++) { /* from hopes to what they are */
        const double as_good = best == -INFINITY ? best : best - 10 * block->near_tie * fabs(best);
        if (row == most_hopeful || hopes[row] == -INFINITY) continue;
        hopes[row] = hopes[row] >= as_good ? rate(work, block, row, as_good, u) : -INFINITY;
        best = hopes[row] > best ? hopes[row] : best;
    }
    if (!(best > -INFINITY && best < INFINITY)) return -1;
    for (row = 0; row < block->n_rows; row++)
        if (hopes[row] >= best - block->near_tie * fabs(best)) break;
    if (row == block->n_rows) return -1; /* NaN compares with nothing */
    rate(work, block, row, -INFINITY, u);
    return row;
}

INLINE int64_t choose(Work *work, Block *block, int selected, double x, double y, Candidate *u)
{
    return block->rule == NORM ? first_feasible(work, block, selected, x, y, u)
                               : best_feasible(work, block, selected, x, y, u);
}

/* Make draw number k. */
KERNEL enum state draw(Work *work, Block *block, int64_t k)
{
    const int64_t l = block->l;
    const double x = block->place[0] + block->step[0] * (double)(k + 1);
    const double y = block->place[1] + block->step[1] * (double)(k + 1);
    Resolvent *lower = &work->lower, *upper = &work->upper;
    Candidate u = {0};
    if (!move(lower, x, k, block->Z[0], block->t) || !(lower->change > 0)) return LOST_DEFINITENESS;
    if (!move(upper, y, k, block->Z[1], block->t) || !(upper->change > 0)) return LOST_DEFINITENESS;
    if (x > work->x0) { /* x0 half-way, if that is not too far, and then at the end */
        const double middle = x + 0.5 * (block->least - x);
        const double end = block->place[0] + block->step[0] * (double)block->most;
        const int is_first = work->x0 == -INFINITY;
        work->x0 = is_first && middle > x && middle < end ? middle : end;
        work->n_known = 0;
        if (!move(&work->node, work->x0, k, block->Z[0], block->t)) return LOST_DEFINITENESS;
    }
    int64_t row = choose(work, block, 0, x, y, &u);
    if (row < 0 && block->again) row = choose(work, block, 1, x, y, &u);
    const double t = 2 / (u.lv + u.uv);
    if (row < 0 || !(t > 0 && t < INFINITY)) return NONE_FEASIBLE;
    lower->potential = lower->trace - t * u.lower.square / (1 + t * u.lower.plain);
    upper->potential = upper->trace + t * u.upper.square / (1 - t * u.upper.plain);
    block->t[k] = t;
    block->drawn[k] = row;
    block->selected[row] = 1;
    for (int side = 0; side < 2; side++)
        memcpy(block->Z[side] + k * l, block->rows[side] + row * l, (size_t)l * sizeof(double));
    follow(work, block, block->Z[0] + k * l, t);
    return DONE;
}

/* Make draws until there are as many as wanted, or something else has to be done first. */
CLONES enum state draw_ahead(Block *block)
{
    const int64_t l = block->l, n_rows = block->n_rows, most = block->most;
    const int64_t numbers = 4 * (most + FOUR + 1) * l + FOUR * l + 6 * n_rows + 1;
    double *space = malloc((size_t)numbers * sizeof(double));
    double *next = space;
    if (!space) return NO_MEMORY;
    Work work = {
        .lower = {.sign = +1, .diagonal = block->diagonal[0], .off = block->off[0]},
        .upper = {.sign = -1, .diagonal = block->diagonal[1], .off = block->off[1]},
        .node = {.sign = +1, .diagonal = block->diagonal[0], .off = block->off[0]},
        .beyond = {.sign = -1, .diagonal = block->diagonal[1], .off = block->off[1]},
        .x0 = -INFINITY,
        .y0 = block->place[1] + block->step[1] * (double)most,
    };
    Resolvent *resolvents[] = {&work.lower, &work.upper, &work.node, &work.beyond};
    for (int i = 0; i < 4; i++) {
        resolvents[i]->l = l;
        resolvents[i]->d = next, next += l;
        resolvents[i]->ratio = next, next += l;
        resolvents[i]->C = next, next += (most + FOUR - 1) * l;
    }
    for (int c = 0; c < FOUR; c++) work.spare[c] = next, next += l;
    for (int i = 0; i < 4; i++) work.known[i] = next, next += n_rows;
    work.lv = next, next += n_rows;
    work.uv = next;
    work.lower.potential = block->potential[0];
    work.upper.potential = block->potential[1];

    enum state state = DONE;
    if (most > 0 && !(factorize(&work.beyond, work.y0) > 0)) state = LOST_DEFINITENESS;
    while (state == DONE && block->n_drawn < most) {
        state = draw(&work, block, block->n_drawn);
        block->n_drawn += state == DONE;
    }
    block->potential[0] = work.lower.potential;
    block->potential[1] = work.upper.potential;
    free(space);
    return state;
}
