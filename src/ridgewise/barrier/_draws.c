/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Draws between two decompositions of A, one after the other, among rows at hand: what the engine
 * does by NumPy, without the cost of calling it. See _resolvent.py for the resolvents and
 * _engine.py for what a draw is; rows and matrices are row-major, in the coordinates of Q.
 *
 * A = Q T Q^T is known by a tridiagonal T, which costs a third of its eigenvalues and eigenvectors
 * and serves as well: T - place = L D L^T in l steps for any place of a barrier, and so G, the
 * inverse, times a row is had in l steps too. These steps wait for one another: four rows at a time
 * go along in the time of one.
 *
 * Few rows are looked at closely. Each is known by two numbers at a place x0 that the lower barrier
 * has not passed yet, h = u^T N u and h' = u^T N^2 u, N = (A - x0)^-1. They are sums over the
 * eigenvalues of A of y = 1 / (eigenvalue - x0), and of y^2, with the same positive weights. The
 * barrier being at x = x0 - delta, L(u) is the sum of y F(y), with those weights and
 *
 *     F(y) = y / (change (1 + delta y)^2) - 1 / (1 + delta y).
 *
 * F is concave where delta y <= 2, so L(u) <= h F(h' / h) by Jensen's inequality.
 *
 * U(u) is at least q + q^2 / (norm^2 change) for any q <= u^T N u of the upper barrier. There N is
 * at least what it would be with A as decomposed, since A has only grown: that gives a q, and by
 * Jensen's inequality again one that is had without a sum, norm^4 / u^T (y - A) u.
 */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

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
#define INLINE static inline __attribute__((always_inline))

enum { FOUR = 4 };
enum rule { NORM, SLACK };
enum state { DONE, NEEDS_ROWS, LOST_DEFINITENESS, NO_MEMORY, WRONG_SIZE };

static const double SPARE = 1 - 1e-6; /* far more than the bounds' rounding errors */

/* What is given and found; _compiled.py has the same. Pairs are lower and upper barrier. */
typedef struct {
    int64_t size;                   /* of this struct */
    int64_t l, n_rows, rule;        /* rows at hand, in scan order */
    int64_t n_drawn, most;          /* in and out: draws since the decomposition; the most */
    double near_tie, outside;       /* norm^2 of the longest row that is not at hand */
    double place[2], step[2];       /* of the barriers, at the decomposition and a draw */
    const double *rows[2];
    const double *diagonal[2], *off[2];  /* of T, and beside its diagonal */
    double least;                   /* a lower bound of the lower T's eigenvalues */
    uint8_t *selected;              /* in and out: of the rows at hand */
    double potential[2];            /* in and out */
    double *Z[2], *t;               /* in and out: rows drawn, and their weights */
    int64_t *drawn, *passed;        /* out: which row, after how many unselected ones */
    int64_t n_looked_at;            /* out */
    double needed;                  /* out: rows of less norm^2 could not have been better */
    double *known;                  /* in and out: four numbers a row, see Screen ... */
    int64_t n_known, known_at;      /* ... of so many rows, after so many draws ... */
    double known_place;             /* ... at x0 */
} Block;

typedef struct {
    double sign;
    int64_t l, k;                   /* k rows were drawn since the decomposition */
    const double *diagonal, *off;   /* of T */
    double *d, *ratio;              /* sign (T - place) = L D L^T, by 1 / D and L's subdiagonal */
    double *C;                      /* N = G - sign C^T C, G = L^-T D^-1 L^-1 */
    double potential, trace, change;
} Resolvent;

typedef struct {
    double square, plain;           /* z^T N^2 z and z^T N z */
} Forms;

typedef struct {
    double lv, uv, term;            /* L(u), U(u), and L's positive term */
    Forms lower, upper;
} Candidate;

typedef struct {
    double h, slope;                /* u^T N u and u^T N^2 u at x0 */
    double norm2, centre;           /* norm^2 and u^T A u / norm^2, as the upper barrier has them */
} Known;

typedef struct {
    Resolvent lower, upper, node;   /* node: at x0 */
    Known *known;
    double *hopes, *spare[FOUR];
} Work;

INLINE double dot(int64_t n, const double *x, const double *y)
{
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int64_t i = 0; i < n; i++) sum += x[i] * y[i];
    return sum;
}

/* Put sign (T - place) = L D L^T; the trace of its inverse, or -1 if it is not definite. */
INLINE double factorize(const Resolvent *N, double place)
{
    const int64_t l = N->l;
    const double *a = N->diagonal, *e = N->off, sign = N->sign;
    double *d = N->d, *rest = N->ratio; /* rest: by what the pivots from below differ from M */
    double least = INFINITY, trace = 0, above = 0, below = 0;
    for (int64_t i = 0, j = l - 1; i < l; i++, j--) { /* down and up: two chains of divisions */
        d[i] = sign * (a[i] - place) - above;
        rest[j] = below;
        if (i < l - 1) above = e[i] * e[i] / d[i];
        if (j > 0) below = e[j - 1] * e[j - 1] / (sign * (a[j] - place) - below);
    }
#pragma omp simd reduction(+ : trace) reduction(min : least)
    for (int64_t i = 0; i < l; i++) {
        least = d[i] < least ? d[i] : least;
        trace += 1 / (d[i] - rest[i]);
        d[i] = 1 / d[i];
        rest[i] = sign * e[i] * d[i];
    }
    return least > 0 ? trace : -1;
}

/* out = G z for some rows at a time, each with its own G. */
INLINE void solve(int count, const Resolvent *const N[], const double *const z[], double *const out[])
{
    const int64_t l = N[0]->l;
    double last[FOUR] = {0};
    for (int c = 0; c < count; c++) out[c][0] = last[c] = z[c][0];
    for (int64_t i = 1; i < l; i++)
        for (int c = 0; c < count; c++)
            out[c][i] = last[c] = z[c][i] - N[c]->ratio[i - 1] * last[c];
    for (int c = 0; c < count; c++) out[c][l - 1] = last[c] *= N[c]->d[l - 1];
    for (int64_t i = l - 2; i >= 0; i--)
        for (int c = 0; c < count; c++)
            out[c][i] = last[c] = out[c][i] * N[c]->d[i] - N[c]->ratio[i] * last[c];
}

/* From out = G z to N z. */
INLINE void reduce(const Resolvent *N, const double *z, double *restrict out)
{
    const int64_t l = N->l;
    int64_t j = 0;
    for (; j + 3 < N->k; j += 4) { /* four at a time: z and out are read once for them */
        const double *a = N->C + j * l, *b = a + l, *c = b + l, *d = c + l;
        double az = 0, bz = 0, cz = 0, dz = 0;
#pragma omp simd reduction(+ : az, bz, cz, dz)
        for (int64_t i = 0; i < l; i++) {
            az += a[i] * z[i];
            bz += b[i] * z[i];
            cz += c[i] * z[i];
            dz += d[i] * z[i];
        }
        az *= N->sign, bz *= N->sign, cz *= N->sign, dz *= N->sign;
#pragma omp simd
        for (int64_t i = 0; i < l; i++) out[i] -= az * a[i] + bz * b[i] + cz * c[i] + dz * d[i];
    }
    for (; j < N->k; j++) {
        const double *a = N->C + j * l, az = N->sign * dot(l, a, z);
#pragma omp simd
        for (int64_t i = 0; i < l; i++) out[i] -= az * a[i];
    }
}

/* The same for two rows, with C read once for both. */
INLINE void reduce_two(const Resolvent *N, const double *y, const double *z,
                       double *restrict y_out, double *restrict z_out)
{
    const int64_t l = N->l;
    int64_t j = 0;
    for (; j + 3 < N->k; j += 4) {
        const double *a = N->C + j * l, *b = a + l, *c = b + l, *d = c + l;
        double ay = 0, by = 0, cy = 0, dy = 0, az = 0, bz = 0, cz = 0, dz = 0;
#pragma omp simd reduction(+ : ay, by, cy, dy, az, bz, cz, dz)
        for (int64_t i = 0; i < l; i++) {
            ay += a[i] * y[i], az += a[i] * z[i];
            by += b[i] * y[i], bz += b[i] * z[i];
            cy += c[i] * y[i], cz += c[i] * z[i];
            dy += d[i] * y[i], dz += d[i] * z[i];
        }
        ay *= N->sign, by *= N->sign, cy *= N->sign, dy *= N->sign;
        az *= N->sign, bz *= N->sign, cz *= N->sign, dz *= N->sign;
#pragma omp simd
        for (int64_t i = 0; i < l; i++) {
            y_out[i] -= ay * a[i] + by * b[i] + cy * c[i] + dy * d[i];
            z_out[i] -= az * a[i] + bz * b[i] + cz * c[i] + dz * d[i];
        }
    }
    for (; j < N->k; j++) {
        const double *a = N->C + j * l;
        const double ay = N->sign * dot(l, a, y), az = N->sign * dot(l, a, z);
#pragma omp simd
        for (int64_t i = 0; i < l; i++) y_out[i] -= ay * a[i], z_out[i] -= az * a[i];
    }
}

/* out = N z */
INLINE void times(const Resolvent *N, const double *z, double *out)
{
    solve(1, &N, &z, &out);
    reduce(N, z, out);
}

INLINE Forms forms(int64_t l, const double *z, const double *Nz)
{
    return (Forms){dot(l, Nz, Nz), dot(l, Nz, z)};
}

/* Take A + t z z^T for A, given N z in the next row of C: it is to be N z / sqrt(1 / t + ...). */
INLINE int add(Resolvent *N, const double *z, double t)
{
    double *c = N->C + N->k * N->l;
    const double scale2 = 1 / t + N->sign * dot(N->l, c, z);
    if (!(scale2 > 0)) return 0;
    const double factor = 1 / sqrt(scale2);
#pragma omp simd
    for (int64_t i = 0; i < N->l; i++) c[i] *= factor;
    N->k++;
    return 1;
}

/* Move the barrier to its next place, with all rows drawn since the decomposition. */
INLINE int move(Resolvent *N, double place, int64_t k, const double *Z, const double *t)
{
    const int64_t l = N->l;
    const Resolvent *all[FOUR] = {N, N, N, N};
    N->trace = factorize(N, place);
    if (!(N->trace > 0)) return 0;
    for (int64_t j = 0; j < k; j += FOUR) {
        const double *z[FOUR];
        double *out[FOUR];
        for (int c = 0; c < FOUR; c++) { /* C has room for more than k */
            z[c] = Z + (j + c < k ? j + c : j) * l;
            out[c] = N->C + (j + c) * l;
        }
        solve(FOUR, all, z, out);
    }
    for (N->k = 0; N->k < k;) {
        const double *z = Z + N->k * l, *next = z + l;
        double *c = N->C + N->k * l;
        const int two = N->k + 1 < k;
        if (two) reduce_two(N, z, next, c, c + l);
        else reduce(N, z, c);
        if (!add(N, z, t[N->k])) return 0;
        N->trace -= N->sign * dot(l, c, c);
        if (!two) break;
        const double share = N->sign * dot(l, c, next);
#pragma omp simd
        for (int64_t i = 0; i < l; i++) c[l + i] -= share * c[i];
        if (!add(N, next, t[N->k])) return 0;
        N->trace -= N->sign * dot(l, c + l, c + l);
    }
    N->change = N->sign * (N->trace - N->potential);
    return 1;
}

/* The numbers by which the next rows are known. */
INLINE void know_more(Work *work, Block *block)
{
    const int64_t l = block->l, last = block->n_rows - 1;
    const double *a = block->diagonal[1], *e = block->off[1], *z[FOUR];
    const Resolvent *N = &work->node, *all[FOUR] = {N, N, N, N};
    double **Nz = work->spare;
    int64_t rows[FOUR];
    for (int c = 0; c < FOUR; c++) {
        rows[c] = block->n_known + c < last ? block->n_known + c : last;
        z[c] = block->rows[0] + rows[c] * l;
    }
    solve(FOUR, all, z, Nz);
    for (int c = 0; c < FOUR; c += 2) reduce_two(N, z[c], z[c + 1], Nz[c], Nz[c + 1]);
    for (int c = 0; c < FOUR; c++) {
        const double *v = block->rows[1] + rows[c] * l;
        const Forms at = forms(l, z[c], Nz[c]);
        double norm2 = v[l - 1] * v[l - 1], weighted = a[l - 1] * norm2;
#pragma omp simd reduction(+ : norm2, weighted)
        for (int64_t i = 0; i < l - 1; i++) {
            norm2 += v[i] * v[i];
            weighted += v[i] * (a[i] * v[i] + 2 * e[i] * v[i + 1]);
        }
        work->known[rows[c]] = (Known){at.plain, at.square, norm2, weighted / norm2};
    }
    block->n_known = rows[FOUR - 1] + 1;
}

INLINE double least_U(const Work *work, const Known *known, double q)
{
    return SPARE * (q + q * (q / (known->norm2 * work->upper.change))); /* q * q may be 0 */
}

/* Bounds of one row: L(u) or more, with what a near-tie allows; U(u) or less. */
INLINE void bound(const Work *work, const Block *block, int64_t row, double x, double y,
                  double *lv, double *uv)
{
    const Known *known = work->known + row;
    const double mean = known->slope / known->h;
    const double share = 1 / (1 + (block->known_place - x) * mean);
    const double term = mean * share / work->lower.change * (1 + 2 * block->near_tie);
    *lv = known->h > 0 ? known->h * share * (term - 1) : INFINITY;
    *uv = least_U(work, known, known->norm2 / (y - known->centre));
}

/* A closer bound on U(u), for a sum more. */
INLINE double closer_bound(const Work *work, const Block *block, int64_t row)
{
    const double *v = block->rows[1] + row * block->l;
    const double *d = work->upper.d, *ratio = work->upper.ratio;
    double y = v[0], q = d[0] * y * y; /* G = L^-T D^-1 L^-1 */
    for (int64_t i = 1; i < block->l; i++) {
        y = v[i] - ratio[i - 1] * y;
        q += d[i] * y * y;
    }
    return least_U(work, work->known + row, q);
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
    for (int64_t row = 0; row < block->n_known; row++) {
        const double *u = block->rows[0] + row * l;
        double cu = 0, cNu = 0;
        if (block->selected[row]) continue;
#pragma omp simd reduction(+ : cu, cNu)
        for (int64_t i = 0; i < l; i++) {
            cu += c[i] * u[i];
            cNu += Nc[i] * u[i];
        }
        work->known[row].h -= cu * cu;
        work->known[row].slope -= cu * (2 * cNu - cu * norm2);
    }
}

/* L and U of one row, as they are. */
INLINE Candidate weigh(Work *work, Block *block, int64_t row)
{
    Candidate u;
    block->n_looked_at++;
    const Resolvent *N[] = {&work->lower, &work->upper};
    const double *z[] = {block->rows[0] + row * block->l, block->rows[1] + row * block->l};
    double **Nz = work->spare;
    solve(2, N, z, Nz);
    for (int side = 0; side < 2; side++) reduce(N[side], z[side], Nz[side]);
    u.lower = forms(block->l, z[0], Nz[0]);
    u.upper = forms(block->l, z[1], Nz[1]);
    u.term = u.lower.square / work->lower.change;
    u.lv = u.term - u.lower.plain;
    u.uv = u.upper.square / work->upper.change + u.upper.plain;
    return u;
}

INLINE int is_feasible(const Block *block, const Candidate *u)
{
    return u->lv > 0 && u->lv >= u->uv - block->near_tie * u->term;
}

/* The slack of one row, -inf where it is infeasible. */
INLINE double slack(Work *work, Block *block, int64_t row, Candidate *u)
{
    *u = weigh(work, block, row);
    return is_feasible(block, u) ? u->lv - u->uv : -INFINITY;
}

/* The first feasible row at hand, or -1. */
INLINE int64_t first_feasible(Work *work, Block *block, double x, double y, Candidate *u)
{
    for (int64_t row = 0; row < block->n_rows; row++) {
        double lv, uv;
        if (row == block->n_known) know_more(work, block);
        if (block->selected[row]) continue;
        bound(work, block, row, x, y, &lv, &uv);
        if (lv < uv || lv < closer_bound(work, block, row)) continue;
        *u = weigh(work, block, row);
        if (is_feasible(block, u)) return row;
    }
    return -1;
}

/* The feasible row at hand with the largest slack, or -1. Of near-ties it is the first. */
INLINE int64_t most_slack(Work *work, Block *block, double x, double y, Candidate *u)
{
    double *hopes = work->hopes, best = -INFINITY;
    int64_t row, most_hopeful = -1;
    while (block->n_known < block->n_rows) know_more(work, block);
    for (row = 0; row < block->n_rows; row++) {
        double lv, uv;
        hopes[row] = -INFINITY;
        if (block->selected[row]) continue;
        bound(work, block, row, x, y, &lv, &uv);
        if (lv < uv) continue;
        hopes[row] = lv - uv;
        if (most_hopeful < 0 || hopes[row] > hopes[most_hopeful]) most_hopeful = row;
    }
    if (most_hopeful < 0) return -1;
    best = hopes[most_hopeful] = slack(work, block, most_hopeful, u);
    for (row = 0; row < block->n_rows; row++) { /* from hopes to what they are */
        if (row == most_hopeful || hopes[row] == -INFINITY) continue;
        const int may_be_best = hopes[row] >= best - 10 * block->near_tie * fabs(best);
        hopes[row] = may_be_best ? slack(work, block, row, u) : -INFINITY;
        best = hopes[row] > best ? hopes[row] : best;
    }
    if (best == -INFINITY) return -1;
    for (row = 0; row < block->n_rows; row++)
        if (hopes[row] >= best - block->near_tie * fabs(best)) break;
    *u = weigh(work, block, row);
    return row;
}

/* Whether no row outside has more slack: that is at most (g^2 / change - g) norm^2. */
INLINE int is_best(const Work *work, Block *block, double x, const Candidate *u)
{
    const double g = 1 / (block->least - x), most = g * (g / work->lower.change - 1) / SPARE;
    if (block->rule == NORM) return 1;
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
    Candidate u;
    if (!move(lower, x, k, block->Z[0], block->t) || !(lower->change > 0)) return LOST_DEFINITENESS;
    if (!move(upper, y, k, block->Z[1], block->t) || !(upper->change > 0)) return LOST_DEFINITENESS;
    if (x > block->known_place) {
        block->known_place = x + 0.5 * (block->least - x);
        block->n_known = 0;
        work->node.k = -1;
    }
    if (work->node.k < k && !move(&work->node, block->known_place, k, block->Z[0], block->t))
        return LOST_DEFINITENESS;
    const int64_t row = block->rule == NORM ? first_feasible(work, block, x, y, &u)
                                            : most_slack(work, block, x, y, &u);
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
        memcpy(block->Z[side] + k * l, block->rows[side] + row * l, (size_t)l * sizeof(double));
    follow(work, block, block->Z[0] + k * l, t);
    return DONE;
}

/* Make draws until there are as many as wanted, or something else has to be done first. */
CLONES enum state draw_ahead(Block *block)
{
    if (block->size != sizeof(Block)) return WRONG_SIZE;
    const int64_t l = block->l, n_rows = block->n_rows, most = block->most;
    const int64_t numbers = 3 * (most + FOUR + 1) * l + FOUR * l + n_rows + 1;
    double *space = malloc((size_t)numbers * sizeof(double));
    double *next = space;
    if (!space) return NO_MEMORY;
    Work work = {
        .lower = {.sign = +1, .diagonal = block->diagonal[0], .off = block->off[0]},
        .upper = {.sign = -1, .diagonal = block->diagonal[1], .off = block->off[1]},
        .node = {.sign = +1, .diagonal = block->diagonal[0], .off = block->off[0], .k = -1},
        .known = (Known *)block->known,
    };
    Resolvent *resolvents[] = {&work.lower, &work.upper, &work.node};
    for (int i = 0; i < 3; i++) {
        resolvents[i]->l = l;
        resolvents[i]->d = next, next += l;
        resolvents[i]->ratio = next, next += l;
        resolvents[i]->C = next, next += (most + FOUR - 1) * l;
    }
    for (int c = 0; c < FOUR; c++) work.spare[c] = next, next += l;
    work.hopes = next;
    work.lower.potential = block->potential[0];
    work.upper.potential = block->potential[1];
    if (block->known_at != block->n_drawn) block->known_place = -INFINITY;
    block->needed = INFINITY;

    enum state state = DONE;
    for (; block->n_drawn < most; block->n_drawn++) {
        state = draw(&work, block, block->n_drawn);
        if (state != DONE) break;
    }
    block->potential[0] = work.lower.potential;
    block->potential[1] = work.upper.potential;
    block->known_at = block->n_drawn;
    free(space);
    return state;
}
