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

/* From out = G z to N z. */
KERNEL void reduce(const Resolvent *N, const double *z, double *restrict out)
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
KERNEL void reduce_two(const Resolvent *N, const double *y, const double *z,
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
KERNEL void times(const Resolvent *N, const double *z, double *out)
{
    solve(N, 1, &z, &out);
    reduce(N, z, out);
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

/* Four rows of a matrix from row i on, and where they go to; past its end, row i once more. */
INLINE void four_rows(int64_t l, int64_t i, int64_t n, const double *from, const double *z[],
                      double *to, double *out[])
{
    for (int c = 0; c < FOUR; c++) {
        z[c] = from + (i + c < n ? i + c : i) * l;
        out[c] = to + (i + c) * l; /* there is room for more than n */
    }
}

/* From N z in the next row of C to c = N z / sqrt(1 / t + sign z^T N z); 0 if rounding defeats it. */
INLINE int scale(const Resolvent *N, const double *z, double t)
{
    double *c = N->C + N->k * N->l;
    const double scale2 = 1 / t + N->sign * dot(N->l, c, z);
    if (!(scale2 > 0)) return 0;
    const double factor = 1 / sqrt(scale2);
#pragma omp simd
    for (int64_t i = 0; i < N->l; i++) c[i] *= factor;
    return 1;
}

/* Take A + t z z^T for A, given N z in the next row of C. */
INLINE int add(Resolvent *N, const double *z, double t)
{
    if (!scale(N, z, t)) return 0;
    const double *c = N->C + N->k++ * N->l;
    N->trace -= N->sign * dot(N->l, c, c);
    return 1;
}

/* Move the barrier to its next place, with all rows drawn since the decomposition. */
KERNEL int move(Resolvent *N, double place, int64_t k, const double *Z, const double *t)
{
    const int64_t l = N->l;
    N->place = place, N->trace = factorize(N, place);
    if (!(N->trace > 0)) return 0;
    for (int64_t j = 0; j < k; j += FOUR) {
        const double *z[FOUR];
        double *out[FOUR];
        four_rows(l, j, k, Z, z, N->C, out);
        solve(N, FOUR, z, out);
    }
    for (N->k = 0; N->k < k;) {
        const double *z = Z + N->k * l, *next = z + l;
        double *c = N->C + N->k * l;
        const int two = N->k + 1 < k;
        if (two) reduce_two(N, z, next, c, c + l);
        else reduce(N, z, c);
        if (!add(N, z, t[N->k])) return 0;
        if (!two) break;
        const double share = N->sign * dot(l, c, next);
#pragma omp simd
        for (int64_t i = 0; i < l; i++) c[l + i] -= share * c[i];
        if (!add(N, next, t[N->k])) return 0;
    }
    return 1;
}

/* N z of four rows, which are any four of a matrix. */
KERNEL void times_four(const Resolvent *N, const double *const z[], double *const out[])
{
    solve(N, FOUR, z, out);
    for (int c = 0; c < FOUR; c += 2) reduce_two(N, z[c], z[c + 1], out[c], out[c + 1]);
}
