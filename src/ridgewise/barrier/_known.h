/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What compiled draws know of the rows at hand, in order to look closely at few of them.
 *
 * Each is known by two numbers at a place x0 that the lower barrier has not passed yet, h = u^T N u
 * and h' = u^T N^2 u, N = (A - x0)^-1. They are sums over the eigenvalues of A of
 * y = 1 / (eigenvalue - x0), and of y^2, with the same positive weights. The barrier being at
 * x = x0 - delta, L(u) is the sum of y F(y), with those weights and
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
 * u^T N u = x^T (B N B^T) x, with a matrix that is made once for all of them, and c^T u = (B c)^T x
 * for what a draw changes: a row that is looked at for the first time later on catches up with these.
 * There numbers of either sign may cancel. Where |x|^T r, r the roots of the matrix's diagonal, is
 * much more than the root of x^T (B N B^T) x, they may have, and the row's coordinates are made.
 */
#include <string.h>

#include "_resolvent.h"

static const double SPARE = 1 - 1e-6, ROUNDING = 1e-8; /* more than the bounds' errors */
static const double CANCELLED = 1e-3; /* of the terms of a sum: what is left has fewer digits */
static const double CANCELLED_TWICE = 1e-12; /* and so few that nothing can be said of it */

/* numbers of a kind, for one instruction to compute with */
typedef double Several __attribute__((vector_size(32), aligned(8)));

/* of a row with c and with N c */
typedef struct {
    double c, Nc;
} Products;

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
    Several *forms, *roots;         /* in and out: see survey ... */
    int64_t surveyed_at;            /* ... after how many draws they were made, or -1 */
    Products *products;             /* in and out: of the basis's rows, n a draw, see follow */
    double *lengths2;               /* in and out: one a draw */
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
KERNEL void know_dense(Work *work, Block *block)
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
KERNEL void survey_side(Work *work, Block *block, const Resolvent *N, const double *B, int place)
{
    const int64_t l = block->l, n = block->n;
    const int size = (int)n, length = (int)l;
    const double one = 1, zero = 0;
    for (int64_t i = 0; i < n; i += FOUR) {
        const double *z[FOUR];
        double *out[FOUR];
        four_rows(l, i, n, B, z, work->V, out);
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
    if (block->surveyed_at < 0) survey_side(work, block, &work->beyond, block->basis[1], 2);
    block->surveyed_at = work->node.k;
}

INLINE Products products(int64_t l, const double *u, const double *c, const double *Nc)
{
    double cu = 0, cNu = 0;
#pragma omp simd reduction(+ : cu, cNu)
    for (int64_t i = 0; i < l; i++) {
        cu += c[i] * u[i];
        cNu += Nc[i] * u[i];
    }
    return (Products){cu, cNu};
}

/* A draw makes N - c c^T of N; c^T c = length2. */
INLINE void follow_row(Block *block, int64_t row, Products of, double length2)
{
    block->known[0][row] -= of.c * of.c;
    block->known[1][row] -= of.c * (2 * of.Nc - of.c * length2);
}

INLINE void follow_sparse(Block *block, int64_t row, int64_t k)
{
    const Products *all = block->products + k * block->n;
    Products of = {0, 0};
    for (int64_t j = block->starts[row]; j < block->starts[row + 1]; j++) {
        of.c += block->values[j] * all[block->indices[j]].c;
        of.Nc += block->values[j] * all[block->indices[j]].Nc;
    }
    follow_row(block, row, of, block->lengths2[k]);
}

/* Whether nothing has to be known of a row: it is selected, and no draw was repeated yet. */
INLINE int is_done(const Block *block, int64_t row)
{
    return block->selected[row] && !block->n_repeats;
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

/* The numbers by which a sparse row is known. */
KERNEL void know_sparse(Work *work, Block *block, int64_t row)
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
    int is_exact = 1;
    for (int i = 0; i < 4; i++) {
        block->known[i][row] = form[i];
        is_exact &= form[i] > CANCELLED * terms[i] * terms[i];
    }
    if (is_exact) {
        for (int64_t k = block->surveyed_at; k < work->node.k; k++) follow_sparse(block, row, k);
        return;
    }
    look_at(work, block, row); /* by its coordinates: those cancel once, and not squared */
    for (int side = 0; side < 2; side++) {
        times(side ? &work->beyond : &work->node, work->row[side], work->spare[0]);
        const Forms at = forms(block->l, work->row[side], work->spare[0]);
        block->known[2 * side][row] = at.plain;
        block->known[2 * side + 1][row] = at.square;
    }
    if (!(block->known[0][row] > CANCELLED_TWICE * terms[0] * terms[0]))
        block->known[0][row] = 0; /* unknown: see bound */
}

INLINE void know_more(Work *work, Block *block)
{
    if (block->rows[0]) know_dense(work, block);
    else know_sparse(work, block, block->n_known++);
}

/* Bounds of some rows: L(u) or more, with what a near-tie allows; U(u) or less. */
KERNEL void bound(Work *work, Block *block, int64_t start, int64_t stop, double x, double y)
{
    const double *h = block->known[0], *slope = block->known[1];
    const double *H = block->known[2], *Slope = block->known[3], *norms2 = block->norms2;
    const double delta = block->known_place - x, Delta = work->y0 - y;
    const double share = (1 + 2 * block->near_tie + ROUNDING) / work->lower.change;
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
        const double least = SPARE * (q + q * (q / (norms2[row] * change))); /* q * q may be 0 */
        const int is_known = h[row] > 0 && least > 0;
        lv[row] = is_known ? h[row] * F : INFINITY;
        uv[row] = is_known ? least : 0;
    }
}

/* Keep what is known up with a draw. */
KERNEL void follow(Work *work, Block *block, const double *z, double t)
{
    Resolvent *N = &work->node;
    const int64_t l = N->l, k = N->k;
    double *c = N->C + k * l, *Nc = work->spare[0];
    times(N, z, c);
    if (!add(N, z, t)) {
        block->known_place = -INFINITY;
        return;
    }
    N->k = k;
    times(N, c, Nc);
    N->k = k + 1;
    const double length2 = dot(l, c, c);
    if (block->rows[0]) {
        for (int64_t row = 0; row < block->n_known; row++)
            if (!block->selected[row])
                follow_row(block, row, products(l, block->rows[0] + row * l, c, Nc), length2);
        return;
    }
    block->lengths2[k] = length2;
    for (int64_t i = 0; i < block->n; i++)
        block->products[k * block->n + i] = products(l, block->basis[0] + i * l, c, Nc);
    for (int64_t row = 0; row < block->n_known; row++)
        if (!is_done(block, row)) follow_sparse(block, row, k);
}
