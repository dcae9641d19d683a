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
    X(int64_t, n_groups, )    /* that are drawn whole; of one row each, mostly */        \
    X(int64_t, rule, )                                                                   \
    X(int64_t, again, )       /* whether selected rows may be drawn, if no other can */  \
    X(int64_t, n_drawn, )     /* in and out: draws since the decomposition */            \
    X(int64_t, most, )        /* ... of which at most so many */                         \
    X(int64_t, n_stale, )     /* in and out: rows drawn since the decomposition ... */   \
    X(int64_t, most_stale, )  /* ... after which no more are */                          \
    X(int64_t, n_looked_at, ) /* out: rows computed closely */                           \
    X(double, near_tie, )                                                                \
    X(double, least, )        /* a lower bound of the lower T's eigenvalues */           \
    X(double, place, [2])     /* of the barriers, at the decomposition ... */            \
    X(double, step, [2])      /* ... and by how much a draw moves them */                \
    X(double, potential, [2]) /* in and out */                                           \
    X(const double *, rows, [2])                                                         \
    X(const int64_t *, starts, ) /* of the groups' rows, and their end */                \
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
    int64_t n_known, group;         /* rows with known numbers, and the last one's group */
    double *known[4];               /* h, h', H, H' of the groups: sums over their rows */
    double *lv, *uv;                /* bounds on L and U of the groups */
    double *spare[FOUR];
} Work;

typedef struct {
    double lv, uv, term;            /* L, U, and L's positive term: sums over a group's rows */
    Forms lower, upper;
} Candidate;

/* Compute the known numbers of the next four rows, and add them to those of their groups. */
KERNEL void know_more(Work *work, const Block *block)
{
    const int64_t l = block->l, first = work->n_known, left = block->n_rows - first;
    const int count = left < FOUR ? (int)left : FOUR;
    const Resolvent *at[2] = {&work->node, &work->beyond};
    int64_t group[FOUR];
    for (int c = 0; c < count; c++) {
        while (first + c >= block->starts[work->group + 1]) work->group++;
        group[c] = work->group;
    }
    for (int side = 0; side < 2; side++) {
        const double *z[FOUR];
        for (int c = 0; c < FOUR; c++) z[c] = block->rows[side] + (first + (c < count ? c : 0)) * l;
        times_four(at[side], z, work->spare);
        for (int c = 0; c < count; c++) {
            const Forms found = forms(l, z[c], work->spare[c]);
            work->known[2 * side][group[c]] += found.plain;
            work->known[2 * side + 1][group[c]] += found.square;
        }
    }
    work->n_known += count;
}

/* Know nothing. */
INLINE void forget(Work *work, const Block *block)
{
    work->n_known = work->group = 0;
    for (int i = 0; i < 4; i++)
        memset(work->known[i], 0, (size_t)block->n_groups * sizeof(double));
}

/* Bounds of some groups: L or more, with what a near-tie allows; U or less. */
KERNEL void bound(Work *work, const Block *block, int64_t start, int64_t stop, double x, double y)
{
    while (work->n_known < block->starts[stop]) know_more(work, block);
    const double *h = work->known[0], *slope = work->known[1];
    const double *H = work->known[2], *Slope = work->known[3], *norms2 = block->norms2;
    const double delta = work->x0 - x, Delta = work->y0 - y;
    const double share = (1 + 2 * block->near_tie + ROUNDING) / work->lower.change;
    const double top = 0.5 * (1 - delta / share); /* v of the maximum, and F there */
    const double F_top = top > 0 ? top * ((1 - top) * share / delta - 1) : 0;
    const double change = work->upper.change;
    double *restrict lv = work->lv, *restrict uv = work->uv;
#pragma omp simd
    for (int64_t g = start; g < stop; g++) {
        const double r = 1 / (h[g] + delta * slope[g]), v = h[g] * r;
        const double q = H[g] * (H[g] / (H[g] - Delta * Slope[g]));
        const double F = v > top ? v * (slope[g] * r * share - 1) : F_top;
        const double least = SPARE * (q + q * (q / (norms2[g] * change))); /* q * q may be 0 */
        const int is_known = h[g] > 0 && least > 0;
        lv[g] = is_known ? h[g] * F : INFINITY;
        uv[g] = is_known ? least : 0;
    }
}

/* Keep the known numbers up with a row drawn, which makes N - c c^T of N. */
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
    for (int64_t g = 0; block->starts[g] < work->n_known; g++) {
        if (block->selected[g] && !block->again) continue;
        const int64_t end = block->starts[g + 1], stop = end < work->n_known ? end : work->n_known;
        for (int64_t row = block->starts[g]; row < stop; row++) {
            const double *u = block->rows[0] + row * l;
            double cu = 0, Ncu = 0;
#pragma omp simd reduction(+ : cu, Ncu)
            for (int64_t i = 0; i < l; i++) cu += c[i] * u[i], Ncu += Nc[i] * u[i];
            work->known[0][g] -= cu * cu;
            work->known[1][g] -= cu * (2 * Ncu - cu * length2);
        }
    }
}

/* Both forms of a group. */
INLINE Forms sum_forms(Work *work, const Block *block, const Resolvent *N, int side, int64_t g)
{
    Forms sum = {0};
    for (int64_t row = block->starts[g]; row < block->starts[g + 1]; row++) {
        const double *z = block->rows[side] + row * block->l;
        times(N, z, work->spare[0]);
        const Forms found = forms(block->l, z, work->spare[0]);
        sum.square += found.square, sum.plain += found.plain;
    }
    return sum;
}

/* L of one group. */
INLINE void weigh_lower(Work *work, Block *block, int64_t g, Candidate *u)
{
    block->n_looked_at++;
    u->lower = sum_forms(work, block, &work->lower, 0, g);
    u->term = u->lower.square / work->lower.change;
    u->lv = u->term - u->lower.plain;
}

/* U of it. */
INLINE void weigh_upper(Work *work, const Block *block, int64_t g, Candidate *u)
{
    u->upper = sum_forms(work, block, &work->upper, 1, g);
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

/* What the rule makes of one group; -inf where it is infeasible, or not as good as that. */
INLINE double rate(Work *work, Block *block, int64_t g, double as_good_as, Candidate *u)
{
    weigh_lower(work, block, g, u);
    if (preference(block, u->lv, work->uv[g]) < as_good_as) return -INFINITY;
    weigh_upper(work, block, g, u);
    return is_feasible(block, u) ? preference(block, u->lv, u->uv) : -INFINITY;
}

/* The first feasible group, or -1: of those that are selected, or of the others. */
KERNEL int64_t first_feasible(Work *work, Block *block, int selected, double x, double y,
                              Candidate *u)
{
    for (int64_t g = 0; g < block->n_groups; g++) {
        if (g % CHUNK == 0) {
            const int64_t stop = g + CHUNK < block->n_groups ? g + CHUNK : block->n_groups;
            bound(work, block, g, stop, x, y);
        }
        if (block->selected[g] != selected || work->lv[g] < work->uv[g]) continue;
        weigh_lower(work, block, g, u);
        if (u->lv < work->uv[g] - block->near_tie * u->term) continue;
        weigh_upper(work, block, g, u);
        if (is_feasible(block, u)) return g;
    }
    return -1;
}

/* The feasible group that the rule prefers, or -1. Of near-ties it is the first. */
KERNEL int64_t best_feasible(Work *work, Block *block, int selected, double x, double y,
                             Candidate *u)
{
    double *hopes = work->lv, best = -INFINITY;
    int64_t g, most_hopeful = -1;
    bound(work, block, 0, block->n_groups, x, y);
    for (g = 0; g < block->n_groups; g++) {
        const int is_out = block->selected[g] != selected || work->lv[g] < work->uv[g];
        hopes[g] = is_out ? -INFINITY : preference(block, work->lv[g], work->uv[g]);
        if (hopes[g] > best) best = hopes[g], most_hopeful = g;
    }
    if (most_hopeful < 0) return -1;
    best = hopes[most_hopeful] = rate(work, block, most_hopeful, -INFINITY, u);
    for (g = 0; g < block->n_groups; g++) { /* from hopes to what they are */
        const double as_good = best == -INFINITY ? best : best - 10 * block->near_tie * fabs(best);
        if (g == most_hopeful || hopes[g] == -INFINITY) continue;
        hopes[g] = hopes[g] >= as_good ? rate(work, block, g, as_good, u) : -INFINITY;
        best = hopes[g] > best ? hopes[g] : best;
    }
    if (!(best > -INFINITY && best < INFINITY)) return -1;
    for (g = 0; g < block->n_groups; g++)
        if (hopes[g] >= best - block->near_tie * fabs(best)) break;
    if (g == block->n_groups) return -1; /* NaN compares with nothing */
    rate(work, block, g, -INFINITY, u);
    return g;
}

INLINE int64_t choose(Work *work, Block *block, int selected, double x, double y, Candidate *u)
{
    return block->rule == NORM ? first_feasible(work, block, selected, x, y, u)
                               : best_feasible(work, block, selected, x, y, u);
}

/* The potential after a group's rows are added to A; -1 if rounding defeats that. */
INLINE double grown(Resolvent *N, const Forms *sum, int64_t count, const double *z, double t)
{
    if (count == 1) return N->trace - N->sign * t * sum->square / (1 + N->sign * t * sum->plain);
    for (int64_t j = 0; j < count; j++, z += N->l) {
        double *c = N->C + N->k * N->l;
        times(N, z, c);
        if (!add(N, z, t)) return -1;
        N->trace -= N->sign * dot(N->l, c, c);
    }
    return N->trace;
}

/* Make the next draw. */
KERNEL enum state draw(Work *work, Block *block)
{
    const int64_t l = block->l, k = block->n_stale, *starts = block->starts;
    const double moves = (double)(block->n_drawn + 1);
    const double x = block->place[0] + block->step[0] * moves;
    const double y = block->place[1] + block->step[1] * moves;
    Resolvent *lower = &work->lower, *upper = &work->upper;
    Candidate u = {0};
    if (!move(lower, x, k, block->Z[0], block->t) || !(lower->change > 0)) return LOST_DEFINITENESS;
    if (!move(upper, y, k, block->Z[1], block->t) || !(upper->change > 0)) return LOST_DEFINITENESS;
    if (x > work->x0) { /* x0 half-way, if that is not too far, and then at the end */
        const double middle = x + 0.5 * (block->least - x);
        const double end = block->place[0] + block->step[0] * (double)block->most;
        const int is_first = work->x0 == -INFINITY;
        work->x0 = is_first && middle > x && middle < end ? middle : end;
        forget(work, block);
        if (!move(&work->node, work->x0, k, block->Z[0], block->t)) return LOST_DEFINITENESS;
    }
    int64_t g = choose(work, block, 0, x, y, &u);
    if (g < 0 && block->again) g = choose(work, block, 1, x, y, &u);
    const double t = 2 / (u.lv + u.uv);
    if (g < 0 || !(t > 0 && t < INFINITY)) return NONE_FEASIBLE;
    const int64_t count = starts[g + 1] - starts[g];
    double *z[2];
    for (int side = 0; side < 2; side++) {
        z[side] = block->Z[side] + k * l;
        memcpy(z[side], block->rows[side] + starts[g] * l, (size_t)(count * l) * sizeof(double));
    }
    const double below = grown(lower, &u.lower, count, z[0], t);
    const double above = grown(upper, &u.upper, count, z[1], t);
    if (!(below > 0 && above > 0)) return LOST_DEFINITENESS;
    lower->potential = below, upper->potential = above;
    block->drawn[block->n_drawn++] = g;
    block->selected[g] = 1;
    for (int64_t j = 0; j < count; j++) block->t[k + j] = t;
    block->n_stale += count;
    for (int64_t j = 0; j < count && work->x0 > -INFINITY; j++) follow(work, block, z[0] + j * l, t);
    return DONE;
}

/* Make draws until there are as many as wanted, or something else has to be done first. */
CLONES enum state draw_ahead(Block *block)
{
    const int64_t l = block->l, n_groups = block->n_groups, most = block->most;
    int64_t largest = 1;
    for (int64_t g = 0; g < n_groups; g++) {
        const int64_t count = block->starts[g + 1] - block->starts[g];
        largest = count > largest ? count : largest;
    }
    const int64_t room = block->most_stale + largest; /* rows of C */
    const int64_t numbers = 4 * (room + FOUR + 1) * l + FOUR * l + 6 * n_groups + 1;
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
        resolvents[i]->C = next, next += (room + FOUR - 1) * l;
    }
    for (int c = 0; c < FOUR; c++) work.spare[c] = next, next += l;
    for (int i = 0; i < 4; i++) work.known[i] = next, next += n_groups;
    work.lv = next, next += n_groups;
    work.uv = next;
    work.lower.potential = block->potential[0];
    work.upper.potential = block->potential[1];

    enum state state = DONE;
    if (most > 0 && !(factorize(&work.beyond, work.y0) > 0)) state = LOST_DEFINITENESS;
    while (state == DONE && block->n_drawn < most && block->n_stale < block->most_stale)
        state = draw(&work, block);
    block->potential[0] = work.lower.potential;
    block->potential[1] = work.upper.potential;
    free(space);
    return state;
}
