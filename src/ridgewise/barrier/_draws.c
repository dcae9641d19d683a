/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Draws among the rows of a pool between two decompositions of A, exactly as the plain algorithm
 * would make them, for a small part of its cost.
 *
 * Resolvents. A = Q T Q^T was decomposed some draws ago, T tridiagonal; Z has the k rows drawn since,
 * rotated by Q, and t their weights. In these coordinates the matrix between A and a barrier is
 *
 *     M = sign (T - place) + sign Z^T diag(t) Z,    sign = +1 (lower barrier) or -1 (upper),
 *
 * and its inverse is that of a tridiagonal matrix, and low rank (Woodbury):
 *
 *     N = G - sign C^T C,    G = (sign (T - place))^-1,    C = R^-1 Z G,    R R^T = 1/t + sign Z G Z^T.
 *
 * G times a row takes l steps. They wait for one another: four rows go along in the time of one.
 * Rows and matrices are row-major.
 *
 * Bounds leave few rows to compute closely. Each row is known by two numbers at a place x0 that the
 * lower barrier reaches later, h = u^T N u and h' = u^T N^2 u, N = (A - x0)^-1. They are sums over
 * the eigenvalues of A of y = 1 / (eigenvalue - x0), and of y^2, with the same positive weights. The
 * barrier being at x = x0 - delta, L(u) is the sum of y F(y), with those weights and
 *
 *     F(y) = y / (change (1 + delta y)^2) - 1 / (1 + delta y)
 *          = v (1 - v) / (change delta) - v,    v = 1 / (1 + delta y).
 *
 * F is concave and increasing up to its maximum, at v = (1 - change delta) / 2, and so L(u) <= h F(y)
 * at y = h' / h or at the maximum, if there is one and it comes first, by Jensen's inequality.
 *
 * U(u) is known by H and H', the same at a place y0 that the upper barrier reaches later. At y = y0 -
 * delta it is a sum of convex functions of 1 / (y0 - eigenvalue), so that U(u) >= R (H + H' R / change),
 * R = 1 / (1 - delta H' / H).
 */
#include <math.h>
#include <stddef.h>
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
#define KERNEL CLONES static
#define INLINE static inline __attribute__((always_inline))

static const double SPARE = 1 - 1e-6, ROUNDING = 1e-8; /* more than the bounds' errors */

enum { FOUR = 4, CHUNK = 16 }; /* CHUNK: groups whose known numbers are computed together */
enum rule { NORM, SLACK, RATIO };
enum state { DONE, NONE_FEASIBLE, LOST_DEFINITENESS, NO_MEMORY };

/* Input and output; _compiled.py has the same fields. Pairs are lower and upper barrier. */
#define FIELDS(X)                                                                        \
    X(int64_t, l, )           /* length of a row */                                      \
    X(int64_t, n_groups, )    /* that are drawn whole; of one row each, mostly */        \
    X(int64_t, rule, )                                                                   \
    X(int64_t, again, )       /* whether selected rows may be drawn, if no other can, ... */ \
    X(int64_t, distinct, )    /* ... and by their slack, with the largest weight */      \
    X(int64_t, wanted, [2])   /* in and out: draws, and distinct groups, to go on for ... */ \
    X(int64_t, most, )        /* ... but no more draws, and ... */                       \
    X(int64_t, most_stale, )  /* ... none where so many rows were drawn since the decomposition */ \
    X(int64_t, room, )        /* rows that fit into Z: a group may exceed most_stale */  \
    X(int64_t, n_drawn, )     /* out: draws made */                                      \
    X(int64_t, n_stale, )     /* in and out: rows drawn since the decomposition */       \
    X(int64_t, n_looked_at, ) /* out: groups computed closely */                         \
    X(double, near_tie, )                                                                \
    X(double, least, )        /* the least eigenvalue of A as decomposed, or less */     \
    X(double, place, [2])     /* of the barriers, before the first draw */               \
    X(double, step, [2])      /* by which they move before each */                       \
    X(double, potential, [2]) /* in and out */                                           \
    X(double *, rows, [2])                                                               \
    X(const double *, diagonal, [2]) /* of T ... */                                      \
    X(const double *, off, [2]) /* ... and beside its diagonal */                        \
    X(double *, Z, [2])       /* in and out: rows drawn since the decomposition ... */   \
    X(double *, t, )          /* ... and their weights */                                \
    X(const int64_t *, starts, ) /* of the groups' rows, and their end */                \
    X(uint8_t *, selected, )  /* in and out */                                           \
    X(int64_t *, drawn, )     /* out: groups */

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
    double sign;
    int64_t l, k;                   /* k rows were drawn since the decomposition */
    const Block *block;
    const double *diagonal, *off;   /* of T */
    double *pivot, *ratio;          /* sign (T - place) = L D L^T: D^-1 and L's subdiagonal */
    double *C;
    double place, trace, change;    /* change: of the trace by the barrier's last move */
} Resolvent;

typedef struct {
    Resolvent barrier[2];           /* lower and upper, at their next places */
    Resolvent later[2];             /* at places that they reach later: x0 and y0 */
    double place[2];                /* x0 and y0; x0 = -INFINITY: look ahead anew */
    double *Nc[2], *length2[2];     /* N c and c^T c for the rows c of C in `later` */
    int64_t *n_followed;            /* by chunk: rows of C that its known numbers account for */
    double *known[4];               /* by group: h, h', H, H', sums over its rows */
    double *lv, *uv, *hopes;        /* by group: bounds on L, U and what the rule makes large */
    double *rated, *t;              /* by group: that exactly, and the weight, if it is feasible */
    double *after[2];               /* by group: the potential after it is drawn, if of one row */
    double *z, *Nz;                 /* CHUNK rows, and N z */
} Work;

INLINE double dot(int64_t n, const double *x, const double *y)
{
    const int64_t q = n / 4; /* four sums, which do not wait for one another */
    double a = 0, b = 0, c = 0, d = 0;
#pragma omp simd reduction(+ : a, b, c, d)
    for (int64_t i = 0; i < q; i++) {
        a += x[i] * y[i], b += x[q + i] * y[q + i];
        c += x[2 * q + i] * y[2 * q + i], d += x[3 * q + i] * y[3 * q + i];
    }
    for (int64_t i = 4 * q; i < n; i++) a += x[i] * y[i];
    return (a + b) + (c + d);
}

/* Of each of some rows, subtract factor[0] from[0] + ... + factor[3] from[3]. */
INLINE void subtract(int count, int64_t l, double factor[][4], const double *const from[], double *to)
{
    const double *p = from[0], *q = from[1], *r = from[2], *s = from[3];
#pragma omp simd
    for (int64_t i = 0; i < l; i++)
        for (int row = 0; row < count; row++) {
            const double *f = factor[row];
            to[row * l + i] -= (f[0] * p[i] + f[1] * q[i]) + (f[2] * r[i] + f[3] * s[i]);
        }
}

/* Products of z[0] and z[1] with a and with b, and of z[2] and z[3] with a2 and with b2. */
INLINE void products(int64_t l, const double *const z[], const double *a, const double *a2,
                     const double *b, const double *b2, double *by_a, double *by_b)
{
    const double *p = z[0], *q = z[1], *r = z[2], *s = z[3];
    double ap = 0, aq = 0, ar = 0, as = 0, bp = 0, bq = 0, br = 0, bs = 0;
#pragma omp simd reduction(+ : ap, aq, ar, as, bp, bq, br, bs)
    for (int64_t i = 0; i < l; i++) {
        ap += a[i] * p[i], bp += b[i] * p[i];
        aq += a[i] * q[i], bq += b[i] * q[i];
        ar += a2[i] * r[i], br += b2[i] * r[i];
        as += a2[i] * s[i], bs += b2[i] * s[i];
    }
    by_a[0] = ap, by_a[1] = aq, by_a[2] = ar, by_a[3] = as;
    by_b[0] = bp, by_b[1] = bq, by_b[2] = br, by_b[3] = bs;
}

/* Put sign (T - place) = L D L^T on either side, and the trace of its inverse, or -1 if it is not
 * definite. */
KERNEL void factorize(Resolvent *both)
{
    const int64_t l = both->l;
    double above[2] = {0}, below[2] = {0}; /* by what the pivots from either end differ from M */
    for (int64_t i = 0, j = l - 1; i < l; i++, j--) /* four chains of divisions */
        for (int side = 0; side < 2; side++) {
            const Resolvent *N = both + side;
            const double *a = N->diagonal, *e = N->off, sign = N->sign;
            N->pivot[i] = sign * (a[i] - N->place) - above[side];
            N->ratio[j] = below[side];
            if (i < l - 1) above[side] = e[i] * e[i] / N->pivot[i];
            if (j > 0) below[side] = e[j - 1] * e[j - 1] / (sign * (a[j] - N->place) - below[side]);
        }
    for (int side = 0; side < 2; side++) {
        Resolvent *N = both + side;
        const double *e = N->off, sign = N->sign;
        double *restrict d = N->pivot, *restrict rest = N->ratio, least = INFINITY, trace = 0;
#pragma omp simd reduction(+ : trace) reduction(min : least)
        for (int64_t i = 0; i < l; i++) {
            least = d[i] < least ? d[i] : least;
            trace += 1 / (d[i] - rest[i]);
            rest[i] = sign * e[i] / d[i];
            d[i] = 1 / d[i];
        }
        N->trace = least > 0 ? trace : -1;
    }
}

/* out = G z = L^-T D^-1 L^-1 z for so many rows. */
INLINE void solve(const Resolvent *N, int count, const double *const z[], double *const out[])
{
    const double *pivot = N->pivot, *ratio = N->ratio;
    double last[FOUR] = {0};
    for (int64_t i = 0; i < N->l; i++)
        for (int c = 0; c < count; c++) {
            last[c] = z[c][i] - (i > 0 ? ratio[i - 1] : 0) * last[c];
            out[c][i] = last[c] * pivot[i];
        }
    for (int64_t i = N->l - 1; i >= 0; i--) /* the last ratio is 0 */
        for (int c = 0; c < count; c++) out[c][i] = last[c] = out[c][i] - ratio[i] * last[c];
}

/* out = N z for some rows; there is room for three more. */
KERNEL void times(const Resolvent *N, int64_t n_rows, const double *z, double *out)
{
    const int64_t l = N->l, k = N->k;
    for (int64_t first = 0; first < n_rows; first += FOUR, out += FOUR * l) {
        const double *rows[FOUR], *c[FOUR];
        double *to[FOUR], by[FOUR][FOUR], factor[FOUR][FOUR]; /* 0 for rows that there are not */
        for (int64_t i = 0; i < FOUR; i++)
            rows[i] = z + (first + i < n_rows ? first + i : first) * l, to[i] = out + i * l;
        if (n_rows > 1) solve(N, FOUR, rows, to);
        else solve(N, 1, rows, to);
        for (int64_t j = 0; j < k; j += FOUR) {
            for (int64_t i = 0; i < FOUR; i++) c[i] = N->C + (j + i < k ? j + i : j) * l;
            for (int i = 0; i < FOUR; i += 2)
                if (n_rows > 1) products(l, rows, c[i], c[i], c[i + 1], c[i + 1], by[i], by[i + 1]);
                else by[i][0] = dot(l, c[i], z), by[i + 1][0] = dot(l, c[i + 1], z);
            for (int i = 0; i < FOUR; i++)
                for (int row = 0; row < FOUR; row++)
                    factor[row][i] = j + i < k && (row == 0 || n_rows > 1) ? N->sign * by[i][row] : 0;
            if (n_rows > 1) subtract(FOUR, l, factor, c, out);
            else subtract(1, l, factor, c, out);
        }
    }
}

/* Take A + t z z^T for A, for some rows z: the next row of C is N z / sqrt(1 / t + sign z^T N z). 0 if
 * rounding defeats it. */
KERNEL int add(Resolvent *N, int64_t n_rows, const double *z, const double *t)
{
    const int64_t l = N->l, last = N->k + n_rows;
    for (; N->k < last; z += FOUR * l, t += FOUR) {
        const int64_t k = N->k, count = last - k < FOUR ? last - k : FOUR;
        double *c = N->C + k * l;
        times(N, count, z, c);
        for (int64_t i = 0; i < count; i++, c += l, N->k++) {
            for (int64_t j = -i; j < 0; j++) { /* those added with it */
                const double share = N->sign * dot(l, c + j * l, z + i * l);
#pragma omp simd
                for (int64_t x = 0; x < l; x++) c[x] -= share * c[j * l + x];
            }
            const double scale2 = 1 / t[i] + N->sign * dot(l, c, z + i * l), scale = 1 / sqrt(scale2);
            if (!(scale2 > 0)) return 0;
#pragma omp simd
            for (int64_t x = 0; x < l; x++) c[x] *= scale;
            N->trace -= N->sign * dot(l, c, c);
        }
    }
    return N->trace > 0;
}

/* Move both barriers to other places, with all rows drawn since the decomposition. */
static int move(Resolvent *both, const double *place)
{
    for (int side = 0; side < 2; side++) both[side].place = place[side];
    factorize(both);
    for (int side = 0; side < 2; side++) {
        const Block *block = both[side].block;
        both[side].k = 0;
        if (!(both[side].trace > 0 && add(&both[side], block->n_stale, block->Z[side], block->t))) return 0;
    }
    return 1;
}

/* z^T N^2 z and z^T N z of some groups, as sums over their rows. */
KERNEL void measure(const Work *work, const Resolvent *N, int64_t n, const int64_t *groups,
                    double *square, double *plain)
{
    const int64_t l = N->l, *starts = N->block->starts;
    const double *rows = N->block->rows[N->sign < 0];
    int64_t of[CHUNK], count = 0;
    for (int64_t i = 0; i < n; i++) square[i] = plain[i] = 0;
    for (int64_t i = 0; i < n; i++)
        for (int64_t row = starts[groups[i]]; row < starts[groups[i] + 1]; row++) {
            memcpy(work->z + count * l, rows + row * l, (size_t)l * sizeof(double));
            of[count++] = i;
            const int is_last = i == n - 1 && row + 1 == starts[groups[i] + 1];
            if (count < CHUNK && !is_last) continue;
            times(N, count, work->z, work->Nz);
            for (int64_t c = 0; c < count; c++) {
                square[of[c]] += dot(l, work->Nz + c * l, work->Nz + c * l);
                plain[of[c]] += dot(l, work->Nz + c * l, work->z + c * l);
            }
            count = 0;
        }
}

/* Bring the known numbers of a chunk up to date: a row drawn made N of N + sign c c^T. */
KERNEL void follow(Work *work, const Block *block, int64_t chunk, int64_t start, int64_t stop)
{
    const int64_t l = block->l, k = work->later[0].k, end = block->starts[stop];
    const double *lower = block->rows[0], *upper = block->rows[1];
    for (int64_t j = work->n_followed[chunk]; j < k; j++) {
        const double *c[FOUR] = {work->later[0].C + j * l, work->Nc[0] + j * l,
                                 work->later[1].C + j * l, work->Nc[1] + j * l};
        for (int64_t row = block->starts[start], group = start; row < end; row += 2) {
            const int64_t a = row * l, b = row + 1 < end ? a + l : a;
            double by[2][FOUR];
            if (lower == upper) /* most often */
                products(l, c, lower + a, lower + a, lower + b, lower + b, by[0], by[1]);
            else products(l, c, lower + a, upper + a, lower + b, upper + b, by[0], by[1]);
            for (int64_t i = 0; i < 2 && row + i < end; i++)
                for (int side = 0; side < 2; side++) {
                    const double sign = work->later[side].sign, length2 = work->length2[side][j];
                    const double cz = by[i][2 * side], Ncz = by[i][2 * side + 1];
                    while (row + i >= block->starts[group + 1]) group++;
                    work->known[2 * side][group] -= sign * cz * cz;
                    work->known[2 * side + 1][group] -= cz * (2 * sign * Ncz + cz * length2);
                }
        }
    }
    work->n_followed[chunk] = k;
}

/* Bounds of the groups of a chunk: L or more, with what a near-tie allows; U or less. */
KERNEL void bound(Work *work, const Block *block, int64_t start, int64_t stop)
{
    const int64_t chunk = start / CHUNK;
    if (work->n_followed[chunk] >= 0) follow(work, block, chunk, start, stop);
    else {
        int64_t groups[CHUNK];
        for (int64_t g = start; g < stop; g++) groups[g - start] = g;
        for (int side = 0; side < 2; side++)
            measure(work, &work->later[side], stop - start, groups,
                    work->known[2 * side + 1] + start, work->known[2 * side] + start);
        work->n_followed[chunk] = work->later[0].k;
    }
    const double *h = work->known[0], *slope = work->known[1];
    const double *H = work->known[2], *Slope = work->known[3];
    const double delta = work->place[0] - work->barrier[0].place;
    const double Delta = work->place[1] - work->barrier[1].place;
    const double share = (1 + 2 * block->near_tie + ROUNDING) / work->barrier[0].change;
    const double top = 0.5 * (1 - delta / share); /* v of the maximum, and F there */
    const double F_top = top > 0 ? top * ((1 - top) * share / delta - 1) : 0;
    const double change = work->barrier[1].change;
    double *restrict lv = work->lv, *restrict uv = work->uv;
#pragma omp simd
    for (int64_t g = start; g < stop; g++) {
        const double r = 1 / (h[g] + delta * slope[g]), v = h[g] * r;
        const double F = v > top ? v * (slope[g] * r * share - 1) : F_top;
        const double R = H[g] / (H[g] - Delta * Slope[g]);
        const double least = SPARE * R * (H[g] + Slope[g] * (R / change));
        const int is_known = h[g] > 0 && least > 0;
        lv[g] = is_known ? h[g] * F : INFINITY;
        uv[g] = is_known ? least : 0;
    }
}

/* What the rule makes large. */
INLINE double preference(int64_t rule, int64_t group, double lv, double uv)
{
    return rule == NORM ? -(double)group : rule == SLACK ? lv - uv : lv / uv;
}

/* Rate some groups, four at most, if they are feasible. */
KERNEL void weigh(Work *work, Block *block, int64_t rule, int64_t n, const int64_t *groups)
{
    double square[2][FOUR], plain[2][FOUR];
    for (int side = 0; side < 2; side++)
        measure(work, &work->barrier[side], n, groups, square[side], plain[side]);
    for (int64_t i = 0; i < n; i++) {
        const int64_t g = groups[i];
        const Resolvent *lower = &work->barrier[0], *upper = &work->barrier[1];
        const double term = square[0][i] / lower->change, lv = term - plain[0][i];
        const double uv = square[1][i] / upper->change + plain[1][i];
        const double inverse = block->selected[g] && block->distinct ? uv : (lv + uv) / 2; /* of t */
        const int is_feasible = lv > 0 && lv >= uv - block->near_tie * term;
        work->hopes[g] = -INFINITY;
        work->rated[g] = is_feasible ? preference(rule, g, lv, uv) : -INFINITY;
        work->t[g] = 1 / inverse;
        work->after[0][g] = lower->trace - square[0][i] / (inverse + plain[0][i]);
        work->after[1][g] = upper->trace + square[1][i] / (inverse - plain[1][i]);
    }
    block->n_looked_at += n;
}

/* The four groups of the largest hopes that are as good as that, or fewer, in descending order. */
INLINE int64_t most_hopeful(const double *hopes, int64_t start, int64_t stop, double as_good,
                            int64_t *groups)
{
    int64_t n = 0;
    for (int64_t g = start; g < stop; g++) {
        if (!(hopes[g] >= as_good && hopes[g] > -INFINITY)) continue;
        if (n == FOUR && !(hopes[g] > hopes[groups[FOUR - 1]])) continue;
        int64_t i = n < FOUR ? n++ : FOUR - 1;
        for (; i > 0 && hopes[g] > hopes[groups[i - 1]]; i--) groups[i] = groups[i - 1];
        groups[i] = g;
    }
    return n;
}

/* The feasible group that is preferred, of those that are selected or of the others, or -1. Of
 * near-ties it is the first. */
KERNEL int64_t best_feasible(Work *work, Block *block, int selected, int64_t start, int64_t stop)
{
    double *rated = work->rated, best = -INFINITY, as_good = -INFINITY;
    const int64_t rule = selected && block->distinct ? SLACK : block->rule;
    int64_t groups[FOUR], n;
    for (int64_t first = start; first < stop; first += CHUNK)
        bound(work, block, first, first + CHUNK < stop ? first + CHUNK : stop);
    for (int64_t g = start; g < stop; g++) {
        const double lv = work->lv[g], uv = work->uv[g];
        const int is_out = block->selected[g] != selected || lv < uv;
        work->hopes[g] = is_out ? -INFINITY : preference(rule, g, lv, uv);
        rated[g] = -INFINITY;
    }
    while ((n = most_hopeful(work->hopes, start, stop, as_good, groups)) > 0) {
        weigh(work, block, rule, n, groups);
        for (int64_t i = 0; i < n; i++) best = rated[groups[i]] > best ? rated[groups[i]] : best;
        if (best > -INFINITY) as_good = best - 10 * block->near_tie * fabs(best);
    }
    if (!(best > -INFINITY && best < INFINITY)) return -1;
    while (!(rated[start] >= best - block->near_tie * fabs(best))) start++;
    return start;
}

/* Place x0 and y0: half-way to where the lower barrier cannot go, or at the end. */
static int look_ahead(Work *work, const Block *block)
{
    const double x = work->barrier[0].place, y = work->barrier[1].place;
    const double left = (double)(block->most - block->n_drawn - 1);
    const double half = 0.5 * (block->least - x) / block->step[0];
    const double steps = half > 0 && half < left && work->place[0] == -INFINITY ? half : left;
    work->place[0] = x + steps * block->step[0], work->place[1] = y + steps * block->step[1];
    for (int64_t chunk = 0; CHUNK * chunk < block->n_groups; chunk++) work->n_followed[chunk] = -1;
    return move(work->later, work->place);
}

/* Add rows there too, each with N c for the known numbers, which follow. */
static int add_later(Work *work, int side, int64_t count, const double *z, const double *t)
{
    Resolvent *N = &work->later[side];
    for (int64_t i = 0; i < count; i++) {
        const double *c = N->C + N->k * N->l;
        if (!add(N, 1, z + i * N->l, t)) return 0;
        times(N, 1, c, work->Nc[side] + (N->k - 1) * N->l);
        work->length2[side][N->k - 1] = dot(N->l, c, c);
    }
    return 1;
}

/* Make the next draw. */
KERNEL enum state draw(Work *work, Block *block)
{
    const int64_t l = block->l, n_groups = block->n_groups;
    double place[2];
    for (int side = 0; side < 2; side++)
        place[side] = block->place[side] + block->step[side] * (double)(block->n_drawn + 1);
    if (!move(work->barrier, place)) return LOST_DEFINITENESS;
    for (int side = 0; side < 2; side++) {
        Resolvent *N = &work->barrier[side];
        N->change = N->sign * (N->trace - block->potential[side]);
        if (!(N->change > 0)) return LOST_DEFINITENESS;
    }
    if (place[0] > work->place[0] && !look_ahead(work, block)) return LOST_DEFINITENESS;
    int64_t g = -1;
    for (int again = 0; again <= block->again && g < 0; again++) {
        const int64_t width = block->rule == NORM && !again ? CHUNK : n_groups; /* the first will do */
        for (int64_t start = 0; start < n_groups && g < 0; start += width)
            g = best_feasible(work, block, again, start,
                              start + width < n_groups ? start + width : n_groups);
    }
    if (g < 0 || !(work->t[g] > 0 && work->t[g] < INFINITY)) return NONE_FEASIBLE;
    const int64_t first = block->starts[g], count = block->starts[g + 1] - first;
    double *t = block->t + block->n_stale;
    for (int64_t i = 0; i < count; i++) t[i] = work->t[g];
    for (int side = 0; side < 2; side++) {
        const double *z = block->rows[side] + first * l;
        Resolvent *N = &work->barrier[side];
        if (!add_later(work, side, count, z, t)) work->place[0] = -INFINITY;
        if (count > 1 && !add(N, count, z, t)) return LOST_DEFINITENESS;
        if (count > 1) work->after[side][g] = N->trace;
        if (!(work->after[side][g] > 0)) return LOST_DEFINITENESS;
        memcpy(block->Z[side] + block->n_stale * l, z, (size_t)(count * l) * sizeof(double));
    }
    for (int side = 0; side < 2; side++) block->potential[side] = work->after[side][g];
    block->n_stale += count;
    block->drawn[block->n_drawn++] = g;
    block->wanted[0]--, block->wanted[1] -= !block->selected[g];
    block->selected[g] = 1;
    return DONE;
}

/* The next so many numbers of the work space. */
INLINE double *carve(double **next, int64_t count)
{
    double *here = *next;
    *next += count;
    return here;
}

/* Make draws until there are as many as wanted, or something else has to be done first. */
enum state draw_ahead(Block *block)
{
    const int64_t l = block->l, n_groups = block->n_groups;
    const int64_t room = block->room + FOUR; /* rows of C */
    const int64_t numbers = 2 * (3 * room + 4) * l + 2 * room + 2 * CHUNK * l + 11 * n_groups;
    double *space = malloc((size_t)numbers * sizeof(double)), *next = space;
    Work work = {.place = {-INFINITY}};
    work.n_followed = malloc((size_t)(n_groups / CHUNK + 1) * sizeof(int64_t));
    enum state state = space && work.n_followed ? DONE : NO_MEMORY;
    for (int side = 0; state == DONE && side < 2; side++) {
        Resolvent *resolvents[] = {&work.barrier[side], &work.later[side]};
        for (int i = 0; i < 2; i++)
            *resolvents[i] = (Resolvent){
                .sign = side ? -1 : +1, .l = l, .block = block, .diagonal = block->diagonal[side],
                .off = block->off[side], .pivot = carve(&next, l), .ratio = carve(&next, l),
                .C = carve(&next, room * l)};
        work.Nc[side] = carve(&next, room * l), work.length2[side] = carve(&next, room);
    }
    if (state == DONE) {
        double **by_group[] = {&work.known[0], &work.known[1], &work.known[2], &work.known[3],
                               &work.lv, &work.uv, &work.hopes, &work.rated, &work.t,
                               &work.after[0], &work.after[1]};
        for (int i = 0; i < 11; i++) *by_group[i] = carve(&next, n_groups);
        work.z = carve(&next, CHUNK * l), work.Nz = carve(&next, CHUNK * l);
    }
    while (state == DONE && (block->wanted[0] > 0 || block->wanted[1] > 0)
           && block->n_drawn < block->most && block->n_stale < block->most_stale)
        state = draw(&work, block);
    free(space);
    free(work.n_followed);
    return state;
}
