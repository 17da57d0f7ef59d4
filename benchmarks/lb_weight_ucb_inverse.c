/* LB-WeightUCB by hand with the explicit inverse of V in place of its factor: fewer operations per arm at d = 2, less exact.
 * Build: cc -O3 -march=native -ffast-math. Noise and path are given, as to lb_weight_ucb.c. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

static uint64_t state = 88172645463325252ULL;
static double uniform(void) {
    state ^= state << 13; state ^= state >> 7; state ^= state << 17;
    return (state >> 11) * 0x1.0p-53;
}

/* arms (d, n) row-major; theta (T, d); best, noise (T). Returns the cumulative regret. */
double run(int d, int n, int T, const double *restrict arms, const double *restrict theta, const double *restrict best,
           const double *restrict noise, double gamma, double lam, double S, double L, double R, double delta) {
    double *A = calloc(d * d, 8), *F = calloc(d * d, 8), *b = calloc(d, 8), *th = calloc(d, 8), *x = calloc(d, 8);
    double *q = calloc(n, 8), *s = calloc(n, 8);
    double weight = 0.0, regret = 0.0;
    for (int t = 0; t < T; t++) {
        for (int i = 0; i < d; i++)
            for (int j = 0; j < d; j++) F[i * d + j] = A[i > j ? i * d + j : j * d + i] + (i == j ? lam : 0.0);
        for (int p = 0; p < d; p++) { /* Gauss-Jordan in place: F becomes the inverse of V */
            double pivot = 1.0 / F[p * d + p];
            F[p * d + p] = 1.0;
            for (int j = 0; j < d; j++) F[p * d + j] *= pivot;
            for (int i = 0; i < d; i++) {
                if (i == p) continue;
                double c = F[i * d + p];
                F[i * d + p] = 0.0;
                for (int j = 0; j < d; j++) F[i * d + j] -= c * F[p * d + j];
            }
        }
        for (int i = 0; i < d; i++) {
            th[i] = 0.0;
            for (int j = 0; j < d; j++) th[i] += F[i * d + j] * b[j];
        }
        double beta = sqrt(lam) * S + R * sqrt(2.0 * log(1.0 / delta) + d * log(1.0 + L * L * weight / (lam * d)));
        for (int a = 0; a < n; a++) s[a] = q[a] = 0.0;
        for (int i = 0; i < d; i++) {
            const double *restrict x_i = arms + (size_t)i * n;
            double m = th[i], own = F[i * d + i];
            for (int a = 0; a < n; a++) { s[a] += m * x_i[a]; q[a] += own * x_i[a] * x_i[a]; }
            for (int j = 0; j < i; j++) {
                double c = 2.0 * F[i * d + j];
                const double *restrict x_j = arms + (size_t)j * n;
                for (int a = 0; a < n; a++) q[a] += c * x_i[a] * x_j[a];
            }
        }
        double top = -1e300;
        for (int a = 0; a < n; a++) { s[a] += beta * sqrt(q[a]); if (s[a] > top) top = s[a]; }
        double level = top - 1e-10 * (1.0 + fabs(top));
        int ties = 0, k = 0;
        for (int a = 0; a < n; a++) ties += s[a] >= level;
        int skip = ties > 1 ? (int)(uniform() * ties) : 0;
        for (int a = 0; a < n; a++) if (s[a] >= level && skip-- == 0) { k = a; break; }
        double z = 0.0;
        for (int i = 0; i < d; i++) { x[i] = arms[i * n + k]; z += x[i] * theta[(size_t)t * d + i]; }
        regret += best[t] - z;
        double r = z + noise[t];
        for (int i = 0; i < d; i++) {
            b[i] = gamma * b[i] + r * x[i];
            for (int j = 0; j <= i; j++) A[i * d + j] = gamma * A[i * d + j] + x[i] * x[j];
        }
        weight = gamma * weight + 1.0;
    }
    free(A); free(F); free(b); free(th); free(x); free(q); free(s);
    return regret;
}
