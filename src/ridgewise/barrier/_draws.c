/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Draws between two decompositions of A, one after the other, among rows at hand: what the engine
 * does by NumPy, without the cost of calling it. See _resolvent.py for the resolvents and
 * _engine.py for what a draw is; rows and matrices are row-major, in the coordinates of Q.
 *
 * Few rows are looked at closely. Each is known by two numbers at a place x0 that the lower barrier
 * has not passed yet, h = u^T N u and h' = u^T N^2 u, N = (A - x0)^-1. They are sums over the
 * eigenvalues of A of y = 1 / (eigenvalue - x0), and of y^2, with the same positive weights. The
 * barrier being at x = x0 - delta, L(u) is the sum of y F(y), with those weights and
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
 *
 * Rows may be given as sparse ones times a basis, u = B^T x. Then a row costs what its non-zeros do:
 * u^T N u = x^T (B N B^T) x, with a matrix that is made once for all of them, and c^T u = (B c)^T x.
 * There numbers of either sign may cancel. Where |x|^T r, r the roots of the matrix's diagonal, is
 * much more than the root of x^T (B N B^T) x, they may have, and the row is looked at closely.
 */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "_resolvent.h"

/* also for processors with AVX2, chosen when the library is loaded */
#if defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(__clang__)
#if __GNUC__ >= 12
#define CLONES __attribute__((target_clones("arch=x86-64-v3", "default")))
#else
#define CLONES __attribute__((target_clones("avx2", "default")))
#endif
#else
#define CLONES
#endif

enum { CHUNK = 16 };
enum rule { NORM, SLACK, RATIO };
enum state { DONE, NEEDS_ROWS, LOST_DEFINITENESS, NO_MEMORY, WRONG_SIZE };

static const double SPARE = 1 - 1e-6; /* far more than the bounds' rounding errors */
static const double CANCELLED = 1e-3; /* of the terms of a sum: what is left has fewer digits */

/* numbers of a kind, for one instruction to compute with */
typedef double Several __attribute__((vector_size(32), aligned(8)));

/* of BLAS */
typedef void (*Gemm)(const char *, const char *, const int *, const int *, const int *,
                     const double *, const double *, const int *, const double *, const int *,
                     const double *, double *, const int *);
typedef void (*Syrk)(const char *, const char *, const int *, const int *, const double *,
                     const double *, const int *, const double *, double *, const int *);

/* What is given and found; _compiled.py has the same. Pairs are lower and upper barrier. */
typedef struct {
    int64_t size;                   /* of this struct */
    int64_t l, n_rows, rule;        /* rows at hand, in scan order */
    int64_t n_drawn, most;          /* in and out: draws since the decomposition; the most */
    double near_tie, outside;       /* norm^2 of the longest row that is not at hand */
    int64_t is_whole;               /* whether no row is missing, selected or not */
    double place[2], step[2];       /* of the barriers, at the decomposition and a draw */
    const double *rows[2];          /* l numbers each; NULL where they are sparse */
    int64_t n;                      /* of the basis's rows */
    const int64_t *starts;          /* row j is made of starts[j], ..., starts[j + 1] - 1 */
    const int32_t *indices;         /* ascending for each */
    const double *values, *basis[2];
    Several *forms, *roots;         /* see survey */
    int64_t n_surveys;              /* in and out: since the decomposition */
    Gemm gemm;
    Syrk syrk;
    const double *norms2;           /* of the rows */
    const double *diagonal[2], *off[2]; /* of T, and beside its diagonal */
    double least;                   /* a lower bound of the lower T's eigenvalues */
    uint8_t *selected;              /* in and out: of the rows at hand */
    double potential[2];            /* in and out */
    double *Z[2], *t;               /* in and out: rows drawn, and their weights */
    int64_t *drawn, *passed;        /* out: which row, after how many unselected ones */
    int64_t n_looked_at;            /* out */
    int64_t n_repeats;              /* in and out: if there were any, selected rows are known too */
    double needed;                  /* out: rows of less norm^2 could not have been better */
    double *known[4];               /* in and out: h and h' at x0, H and H' at y0 ... */
    int64_t n_known, known_at;      /* ... of so many rows, after so many draws ... */
    double known_place;             /* ... x0 */
} Block;

typedef struct {
    double lv, uv, term;            /* L(u), U(u), and L's positive term */
    Forms lower, upper;
} Candidate;

typedef struct {
    Resolvent lower, upper;
    Resolvent node, beyond;         /* at x0, and at y0 with A as decomposed */
    double y0;
    const double *row[2];           /* the one looked at */
    double *built[2];               /* room for it */
    double *V, *plain, *square;     /* N B^T, B N B^T, B N^2 B^T */
    double *lv, *uv, *spare[FOUR];  /* bounds on L and U of the rows */
    uint8_t *marks;                 /* of the basis's rows, see mark */
} Work;

/* The numbers by which the next rows are known. */
INLINE void know_dense(Work *work, Block *block)
{
    const int64_t l = block->l, last = block->n_rows - 1;
    const double *z[2][FOUR];
    double **Nz = work->spare;
    int64_t rows[FOUR];
    for (int c = 0; c < FOUR; c++) {
        rows[c] = block->n_known + c < last ? block->n_known + c : last;
        for (int side = 0; side < 2; side++) z[side][c] = block->rows[side] + rows[c] * l;
    }
    times_four(&work->node, z[0], Nz);
    for (int c = 0; c < FOUR; c++) {
        const Forms at = forms(l, z[0][c], Nz[c]);
        block->known[0][rows[c]] = at.plain;
        block->known[1][rows[c]] = at.square;
    }
    times_four(&work->beyond, z[1], Nz);
    for (int c = 0; c < FOUR; c++) {
        const Forms at = forms(l, z[1][c], Nz[c]);
        block->known[2][rows[c]] = at.plain;
        block->known[3][rows[c]] = at.square;
    }
    block->n_known = rows[FOUR - 1] + 1;
}

/* B N B^T and B N^2 B^T, up to the diagonal, into two places of the forms. */
INLINE void survey_side(Work *work, Block *block, const Resolvent *N, const double *B, int place)
{
    const int64_t l = block->l, n = block->n;
    const int size = (int)n, length = (int)l;
    const double one = 1, zero = 0;
    for (int64_t i = 0; i < n; i += FOUR) {
        const double *z[FOUR];
        double *out[FOUR];
        for (int c = 0; c < FOUR; c++) { /* V has room for more than n */
            z[c] = B + (i + c < n ? i + c : i) * l;
            out[c] = work->V + (i + c) * l;
        }
        times_four(N, z, out);
    }
    block->gemm("T", "N", &size, &size, &length, &one, B, &length, work->V, &length, &zero,
                work->plain, &size);
    block->syrk("U", "T", &size, &length, &one, work->V, &length, &zero, work->square, &size);
    for (int64_t i = 0; i < n; i++) {
        const double *plain = work->plain + i * n, *square = work->square + i * n;
        for (int64_t j = 0; j <= i; j++) {
            block->forms[i * n + j][place] = plain[j];
            block->forms[i * n + j][place + 1] = square[j];
        }
        block->roots[i][place] = sqrt(plain[i]);
        block->roots[i][place + 1] = sqrt(square[i]);
    }
}

/* Make the matrices by which sparse rows are known. */
INLINE void survey(Work *work, Block *block)
{
    survey_side(work, block, &work->node, block->basis[0], 0);
    if (block->n_surveys++ == 0) survey_side(work, block, &work->beyond, block->basis[1], 2);
}

/* Whether nothing has to be known of a row: it is selected, and no draw was repeated yet. */
INLINE int is_done(const Block *block, int64_t row)
{
    return block->selected[row] && !block->n_repeats;
}

/* The numbers by which a sparse row is known. */
INLINE void know_sparse(Block *block, int64_t row)
{
    const int64_t start = block->starts[row], stop = block->starts[row + 1];
    const int32_t *at = block->indices;
    const double *x = block->values;
    Several form = {0}, terms = {0};
    if (is_done(block, row)) return;
    for (int64_t i = start; i < stop; i++) {
        const Several *line = block->forms + at[i] * block->n;
        Several twice = {0};
        for (int64_t j = start; j < i; j++) twice += x[j] * line[at[j]];
        form += x[i] * (2 * twice + x[i] * line[at[i]]);
        terms += fabs(x[i]) * block->roots[at[i]];
    }
    terms *= CANCELLED * terms;
    int is_exact = 1;
    for (int i = 0; i < 4; i++) {
        block->known[i][row] = form[i];
        is_exact &= form[i] > terms[i];
    }
    if (!is_exact) block->known[0][row] = 0; /* unknown */
}

INLINE void know_more(Work *work, Block *block)
{
    if (block->rows[0]) know_dense(work, block);
    else know_sparse(block, block->n_known++);
}

/* Bounds of some rows: L(u) or more, with what a near-tie allows; U(u) or less. */
INLINE void bound(Work *work, Block *block, int64_t start, int64_t stop, double x, double y)
{
    const double *h = block->known[0], *slope = block->known[1];
    const double *H = block->known[2], *Slope = block->known[3], *norms2 = block->norms2;
    const double delta = block->known_place - x, Delta = work->y0 - y;
    const double share = (1 + 2 * block->near_tie) / work->lower.change;
    const double top = 0.5 * (1 - delta / share); /* v of the maximum, and F there */
    const double F_top = top > 0 ? top * ((1 - top) * share / delta - 1) : 0;
    const double change = work->upper.change;
    double *restrict lv = work->lv, *restrict uv = work->uv;
    while (block->n_known < stop) know_more(work, block);
#pragma omp simd
    for (int64_t row = start; row < stop; row++) {
        const double r = 1 / (h[row] + delta * slope[row]), v = h[row] * r;
        const double q = H[row] * (H[row] / (H[row] - Delta * Slope[row]));
        const double F = v > top ? v * (slope[row] * r * share - 1) : F_top;
        lv[row] = h[row] > 0 ? h[row] * F : INFINITY;
        uv[row] = SPARE * (q + q * (q / (norms2[row] * change))); /* q * q may be 0 */
    }
}

/* Have the coordinates of one row. */
INLINE void look_at(Work *work, const Block *block, int64_t row)
{
    const int64_t l = block->l;
    for (int side = 0; side < 2; side++) {
        double *built = work->built[side];
        if (block->rows[side]) {
            work->row[side] = block->rows[side] + row * l;
            continue;
        }
        work->row[side] = built;
        if (side == 1 && block->basis[1] == block->basis[0]) {
            work->row[1] = work->row[0];
            continue;
        }
        memset(built, 0, (size_t)l * sizeof(double));
        for (int64_t j = block->starts[row]; j < block->starts[row + 1]; j++) {
            const double *b = block->basis[side] + block->indices[j] * l, x = block->values[j];
#pragma omp simd
            for (int64_t i = 0; i < l; i++) built[i] += x * b[i];
        }
    }
}

typedef struct {
    double c, Nc;                   /* products of a row with these */
} Pair;

INLINE Pair dots(int64_t l, const double *u, const double *c, const double *Nc)
{
    double cu = 0, cNu = 0;
#pragma omp simd reduction(+ : cu, cNu)
    for (int64_t i = 0; i < l; i++) {
        cu += c[i] * u[i];
        cNu += Nc[i] * u[i];
    }
    return (Pair){cu, cNu};
}

INLINE void follow_row(Block *block, int64_t row, Pair of, double norm2)
{
    block->known[0][row] -= of.c * of.c;
    block->known[1][row] -= of.c * (2 * of.Nc - of.c * norm2);
}

/* Keep what is known up with a draw. */
INLINE void follow(Work *work, Block *block, const double *z, double t)
{
    Resolvent *N = &work->node;
    const int64_t l = N->l, before = N->k;
    double *c = N->C + before * l, *Nc = work->spare[0];
    times(N, z, c);
    if (!add(N, z, t)) {
        block->known_place = -INFINITY;
        return;
    }
    N->k = before;
    times(N, c, Nc);
    N->k = before + 1;
    const double norm2 = dot(l, c, c);
    if (block->rows[0]) {
        for (int64_t row = 0; row < block->n_known; row++) {
            if (block->selected[row]) continue;
            const Pair of = dots(l, block->rows[0] + row * l, c, Nc);
            follow_row(block, row, of, norm2);
        }
        return;
    }
    Pair *of_basis = (Pair *)work->V;
    for (int64_t i = 0; i < block->n; i++) of_basis[i] = dots(l, block->basis[0] + i * l, c, Nc);
    for (int64_t row = 0; row < block->n_known; row++) {
        Pair of = {0, 0};
        if (is_done(block, row)) continue;
        for (int64_t j = block->starts[row]; j < block->starts[row + 1]; j++) {
            of.c += block->values[j] * of_basis[block->indices[j]].c;
            of.Nc += block->values[j] * of_basis[block->indices[j]].Nc;
        }
        follow_row(block, row, of, norm2);
    }
}

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
 * feasible as the other, and no rule wants the shorter one, which comes later: few words of text are
 * in a document of their own, and many share one. */
INLINE uint8_t *mark(const Work *work, const Block *block, int64_t row)
{
    if (block->rows[0]) return NULL;
    const int64_t start = block->starts[row];
    return block->starts[row + 1] == start + 1 ? work->marks + block->indices[start] : NULL;
}

/* The first feasible row at hand, or -1: of those that are selected, or of the others. */
INLINE int64_t first_feasible(Work *work, Block *block, int selected, double x, double y,
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
INLINE int64_t best_feasible(Work *work, Block *block, int selected, double x, double y,
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
    const double g = 1 / (block->least - x), most = g * (g / work->lower.change - 1) / SPARE;
    if (block->rule == NORM) return 1;
    if (block->rule == SLACK)
        block->needed = u->lv > u->uv && most > 0 ? (u->lv - u->uv) / most : INFINITY;
    return block->outside <= 0 || (block->needed < INFINITY && block->needed > block->outside);
}

/* Make draw number k. */
INLINE enum state draw(Work *work, Block *block, int64_t k)
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
        block->known_place = block->known_place == -INFINITY && middle < end ? middle : end;
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
                if (block->selected[i]) know_sparse(block, i);
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
