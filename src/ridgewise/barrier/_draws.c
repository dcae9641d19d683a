/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Draws between two decompositions of A, one after the other, among rows at hand: what the engine
 * does by NumPy, without the cost of calling it. See _engine.py for what a draw is.
 */
#include <stdlib.h>

#include "_known.h"

enum { CHUNK = 16 };
enum rule { NORM, SLACK, RATIO };
enum state { DONE, NEEDS_ROWS, LOST_DEFINITENESS, NO_MEMORY, WRONG_SIZE };

typedef struct {
    double lv, uv, term;            /* L(u), U(u), and L's positive term */
    Forms lower, upper;
} Candidate;

/* L of the row looked at, as it is. */
INLINE void weigh_lower(Work *work, Block *block, Candidate *u)
{
    block->n_looked_at++;
    times(&work->lower, work->row[0], work->spare[0]);
    u->lower = forms(block->l, work->row[0], work->spare[0]);
    u->term = u->lower.square / work->lower.change;
    u->lv = u->term - u->lower.plain;
}

/* U of it. */
INLINE void weigh_upper(Work *work, const Block *block, Candidate *u)
{
    times(&work->upper, work->row[1], work->spare[0]);
    u->upper = forms(block->l, work->row[1], work->spare[0]);
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
    look_at(work, block, row);
    weigh_lower(work, block, u);
    if (preference(block, u->lv, work->uv[row]) < as_good_as) return -INFINITY;
    weigh_upper(work, block, u);
    return is_feasible(block, u) ? preference(block, u->lv, u->uv) : -INFINITY;
}

/* Where it says whether a multiple of this row was looked at in this draw, or NULL. One is as
 * feasible as the other, and no rule wants the shorter one, which comes later. Such are words that
 * occur in the same document alone: half of the words of a text. */
INLINE uint8_t *mark(const Work *work, const Block *block, int64_t row)
{
    if (block->rows[0]) return NULL;
    const int64_t start = block->starts[row];
    return block->starts[row + 1] == start + 1 ? work->marks + block->indices[start] : NULL;
}

/* The first feasible row at hand, or -1: of those that are selected, or of the others. */
KERNEL int64_t first_feasible(Work *work, Block *block, int selected, double x, double y,
                              Candidate *u)
{
    memset(work->marks, 0, (size_t)block->n);
    for (int64_t row = 0; row < block->n_rows; row++) {
        if (row % CHUNK == 0) {
            const int64_t stop = row + CHUNK < block->n_rows ? row + CHUNK : block->n_rows;
            bound(work, block, row, stop, x, y);
        }
        if (block->selected[row] != selected || work->lv[row] < work->uv[row]) continue;
        uint8_t *marked = mark(work, block, row);
        if (marked && *marked) continue;
        if (marked) *marked = 1;
        look_at(work, block, row);
        weigh_lower(work, block, u);
        if (u->lv < work->uv[row] - block->near_tie * u->term) continue;
        weigh_upper(work, block, u);
        if (is_feasible(block, u)) return row;
    }
    return -1;
}

/* The feasible row at hand that the rule prefers, or -1. Of near-ties it is the first. */
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
    memset(work->marks, 0, (size_t)block->n);
    for (row = 0; row < block->n_rows; row++) { /* from hopes to what they are */
        if (row == most_hopeful || hopes[row] == -INFINITY) continue;
        const double as_good = best == -INFINITY ? best : best - 10 * block->near_tie * fabs(best);
        uint8_t *marked = mark(work, block, row);
        const int may_be_best = hopes[row] >= as_good && !(marked && *marked);
        hopes[row] = may_be_best ? rate(work, block, row, as_good, u) : -INFINITY;
        if (marked && may_be_best && (hopes[row] > 0 || hopes[row] == -INFINITY)) *marked = 1;
        best = hopes[row] > best ? hopes[row] : best;
    }
    if (best == -INFINITY) return -1;
    for (row = 0; row < block->n_rows; row++)
        if (hopes[row] >= best - block->near_tie * fabs(best)) break;
    rate(work, block, row, -INFINITY, u);
    return row;
}

INLINE int64_t choose(Work *work, Block *block, int selected, double x, double y, Candidate *u)
{
    return block->rule == NORM ? first_feasible(work, block, selected, x, y, u)
                               : best_feasible(work, block, selected, x, y, u);
}

/* Whether no row outside is better: its slack is at most (g^2 / change - g) norm^2. */
INLINE int is_best(const Work *work, Block *block, double x, const Candidate *u)
{
    const double g = block->least > x ? 1 / (block->least - x) : INFINITY;
    const double most = g * (g / work->lower.change - 1) / SPARE;
    if (block->rule == NORM) return 1;
    if (block->rule == SLACK)
        block->needed = u->lv > u->uv && most > 0 ? (u->lv - u->uv) / most : INFINITY;
    return block->outside <= 0 || (block->needed < INFINITY && block->needed > block->outside);
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
    const int is_passed = x > block->known_place;
    if (is_passed) { /* x0 half-way, if that is not too far, and then at the end */
        const double middle = x + 0.5 * (block->least - x);
        const double end = block->place[0] + block->step[0] * (double)block->most;
        const int is_first = block->known_place == -INFINITY;
        block->known_place = is_first && middle > x && middle < end ? middle : end;
        block->n_known = 0;
        work->node.k = -1;
    }
    if (work->node.k < k && !move(&work->node, block->known_place, k, block->Z[0], block->t))
        return LOST_DEFINITENESS;
    if (is_passed && !block->rows[0]) survey(work, block);
    int64_t row = choose(work, block, 0, x, y, &u);
    if (row < 0 && block->is_whole) {
        if (block->n_repeats++ == 0)
            for (int64_t i = 0; i < block->n_known; i++)
                if (block->selected[i]) know_sparse(work, block, i);
        row = choose(work, block, 1, x, y, &u);
        block->n_repeats -= row < 0;
    }
    if (row < 0 || !is_best(work, block, x, &u)) return NEEDS_ROWS;
    const double t = 2 / (u.lv + u.uv);
    lower->potential = lower->trace - t * u.lower.square / (1 + t * u.lower.plain);
    upper->potential = upper->trace + t * u.upper.square / (1 - t * u.upper.plain);
    block->t[k] = t;
    block->drawn[k] = row;
    block->passed[k] = 0;
    for (int64_t i = 0; i < row; i++) block->passed[k] += !block->selected[i];
    block->selected[row] = 1;
    for (int side = 0; side < 2; side++)
        memcpy(block->Z[side] + k * l, work->row[side], (size_t)l * sizeof(double));
    follow(work, block, block->Z[0] + k * l, t);
    return DONE;
}

/* Make draws until there are as many as wanted, or something else has to be done first. */
CLONES enum state draw_ahead(Block *block)
{
    if (block->size != sizeof(Block)) return WRONG_SIZE;
    const int64_t l = block->l, n_rows = block->n_rows, most = block->most;
    const int64_t numbers = 4 * (most + FOUR + 1) * l + (FOUR + 2) * l + 2 * n_rows
                            + (block->n + FOUR) * (l + 1) + (2 * block->n + 1) * block->n + 1;
    double *space = malloc((size_t)numbers * sizeof(double));
    double *next = space;
    if (!space) return NO_MEMORY;
    Work work = {
        .lower = {.sign = +1, .diagonal = block->diagonal[0], .off = block->off[0]},
        .upper = {.sign = -1, .diagonal = block->diagonal[1], .off = block->off[1]},
        .node = {.sign = +1, .diagonal = block->diagonal[0], .off = block->off[0], .k = -1},
        .beyond = {.sign = -1, .diagonal = block->diagonal[1], .off = block->off[1]},
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
    for (int side = 0; side < 2; side++) work.built[side] = next, next += l;
    work.V = next, next += (block->n + FOUR) * (l + 1);
    work.plain = next, next += block->n * block->n;
    work.square = next, next += block->n * block->n;
    work.marks = (uint8_t *)next, next += block->n;
    work.lv = next, next += n_rows;
    work.uv = next;
    work.lower.potential = block->potential[0];
    work.upper.potential = block->potential[1];
    if (block->known_at != block->n_drawn) block->known_place = -INFINITY;
    block->needed = INFINITY;

    enum state state = DONE;
    if (most > 0 && !(factorize(&work.beyond, work.y0) > 0)) state = LOST_DEFINITENESS;
    while (state == DONE && block->n_drawn < most) {
        state = draw(&work, block, block->n_drawn);
        block->n_drawn += state == DONE;
    }
    block->potential[0] = work.lower.potential;
    block->potential[1] = work.upper.potential;
    block->known_at = block->n_drawn;
    free(space);
    return state;
}
