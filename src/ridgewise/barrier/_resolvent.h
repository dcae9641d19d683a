/* SPDX-License-Identifier: BSD-3-Clause
 *
 * One barrier's view of A in compiled draws; see _draws.py for the formulas.
 *
 * A = Q T Q^T is known by a tridiagonal T, which costs a third of its eigenvalues and eigenvectors
 * and serves as well: T - place = L D L^T in l steps for any place of a barrier, and so G, the
 * inverse, times a row is had in l steps too. These steps wait for one another: four rows at a time
 * go along in the time of one. Rows and matrices are row-major, in the coordinates of Q.
 */
#include <math.h>
#include <stdint.h>

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

enum { FOUR = 4 };

typedef struct {
    double sign;
    int64_t l, k;                   /* k rows were drawn since the decomposition */
    const double *diagonal, *off;   /* of T */
    double *d, *ratio;              /* sign (T - place) = L D L^T, by 1 / D and L's subdiagonal */
    double *C;                      /* N = G - sign C^T C, G = L^-T D^-1 L^-1 */
    double place, trace, change;    /* change: of the trace by the barrier's last move */
} Resolvent;

INLINE double dot(int64_t n, const double *x, const double *y)
{
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int64_t i = 0; i < n; i++) sum += x[i] * y[i];
    return sum;
}

/* Put sign (T - place) = L D L^T; the trace of its inverse, or -1 if it is not definite. */
KERNEL double factorize(const Resolvent *N, double place)
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

/* out = G z for some rows at a time. */
INLINE void solve(const Resolvent *N, int count, const double *const z[], double *const out[])
{
    const int64_t l = N->l;
    const double *d = N->d, *ratio = N->ratio;
    double last[FOUR] = {0};
    for (int c = 0; c < count; c++) out[c][0] = last[c] = z[c][0];
    for (int64_t i = 1; i < l; i++)
        for (int c = 0; c < count; c++) out[c][i] = last[c] = z[c][i] - ratio[i - 1] * last[c];
    for (int c = 0; c < count; c++) out[c][l - 1] = last[c] *= d[l - 1];
    for (int64_t i = l - 2; i >= 0; i--)
        for (int c = 0; c < count; c++)
            out[c][i] = last[c] = out[c][i] * d[i] - ratio[i] * last[c];
}

/* Products of four rows with a and with b. */
KERNEL void products(int64_t l, const double *const z[], const double *a, const double *b,
                     double *by_a, double *by_b)
{
    const double *p = z[0], *q = z[1], *r = z[2], *s = z[3];
    double ap = 0, aq = 0, ar = 0, as = 0, bp = 0, bq = 0, br = 0, bs = 0;
#pragma omp simd reduction(+ : ap, aq, ar, as, bp, bq, br, bs)
    for (int64_t i = 0; i < l; i++) {
        ap += a[i] * p[i], bp += b[i] * p[i];
        aq += a[i] * q[i], bq += b[i] * q[i];
        ar += a[i] * r[i], br += b[i] * r[i];
        as += a[i] * s[i], bs += b[i] * s[i];
    }
    by_a[0] = ap, by_a[1] = aq, by_a[2] = ar, by_a[3] = as;
    by_b[0] = bp, by_b[1] = bq, by_b[2] = br, by_b[3] = bs;
}

/* From out = G z to N z for one row; two rows of C at a time, the last one once more, times 0. */
KERNEL void reduce(const Resolvent *N, const double *z, double *restrict out)
{
    const int64_t l = N->l;
    for (int64_t j = 0; j < N->k; j += 2) {
        const int is_pair = j + 1 < N->k;
        const double *a = N->C + j * l, *b = is_pair ? a + l : a;
        double az = 0, bz = 0;
#pragma omp simd reduction(+ : az, bz)
        for (int64_t i = 0; i < l; i++) az += a[i] * z[i], bz += b[i] * z[i];
        az *= N->sign, bz *= is_pair ? N->sign : 0;
#pragma omp simd
        for (int64_t i = 0; i < l; i++) out[i] -= az * a[i] + bz * b[i];
    }
}

/* The same for four rows, for which C is read once. */
KERNEL void reduce_four(const Resolvent *N, const double *const z[], double *const out[])
{
    const int64_t l = N->l;
    double *restrict to_p = out[0], *restrict to_q = out[1];
    double *restrict to_r = out[2], *restrict to_s = out[3];
    for (int64_t j = 0; j < N->k; j += 2) {
        const int is_pair = j + 1 < N->k;
        const double *a = N->C + j * l, *b = is_pair ? a + l : a;
        const double signs[2] = {N->sign, is_pair ? N->sign : 0};
        double by_a[FOUR], by_b[FOUR];
        products(l, z, a, b, by_a, by_b);
        for (int c = 0; c < FOUR; c++) by_a[c] *= signs[0], by_b[c] *= signs[1];
#pragma omp simd
        for (int64_t i = 0; i < l; i++) {
            to_p[i] -= by_a[0] * a[i] + by_b[0] * b[i];
            to_q[i] -= by_a[1] * a[i] + by_b[1] * b[i];
            to_r[i] -= by_a[2] * a[i] + by_b[2] * b[i];
            to_s[i] -= by_a[3] * a[i] + by_b[3] * b[i];
        }
    }
}

/* out = N z */
KERNEL void times(const Resolvent *N, const double *z, double *out)
{
    solve(N, 1, &z, &out);
    reduce(N, z, out);
}

/* The same for four rows. */
KERNEL void times_four(const Resolvent *N, const double *const z[], double *const out[])
{
    solve(N, FOUR, z, out);
    reduce_four(N, z, out);
}

/* Take A + t z z^T for A, given N z in the next row of C: N z / sqrt(1 / t + sign z^T N z) gets in
 * its place; 0 if rounding defeats it. */
INLINE int update(Resolvent *N, const double *z, double t)
{
    double *c = N->C + N->k * N->l;
    const double scale2 = 1 / t + N->sign * dot(N->l, c, z);
    if (!(scale2 > 0)) return 0;
    const double factor = 1 / sqrt(scale2);
#pragma omp simd
    for (int64_t i = 0; i < N->l; i++) c[i] *= factor;
    N->k++, N->trace -= N->sign * dot(N->l, c, c);
    return 1;
}

/* Take A + t z z^T for A. */
INLINE int add(Resolvent *N, const double *z, double t)
{
    times(N, z, N->C + N->k * N->l);
    return update(N, z, t);
}

/* Move the barrier to its next place, with all rows drawn since the decomposition. */
KERNEL int move(Resolvent *N, double place, int64_t k, const double *Z, const double *t)
{
    const int64_t l = N->l;
    N->place = place, N->trace = factorize(N, place);
    if (!(N->trace > 0)) return 0;
    for (N->k = 0; N->k < k;) { /* four rows at a time; past the end, the first once more */
        const double *z[FOUR];
        double *c[FOUR];
        const int64_t left = k - N->k;
        for (int64_t i = 0; i < FOUR; i++) {
            z[i] = Z + (N->k + (i < left ? i : 0)) * l;
            c[i] = N->C + (N->k + i) * l; /* there is room for more than k */
        }
        times_four(N, z, c);
        for (int64_t i = 0; i < FOUR && i < left; i++) {
            if (!update(N, z[i], t[N->k])) return 0;
            for (int64_t j = i + 1; j < FOUR && j < left; j++) {
                const double share = N->sign * dot(l, c[i], z[j]);
#pragma omp simd
                for (int64_t m = 0; m < l; m++) c[j][m] -= share * c[i][m];
            }
        }
    }
    return 1;
}
