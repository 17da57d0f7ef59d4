/* LB-WeightUCB by hand, the yardstick of bench_linear.py: same algorithm, same inputs, same tie rule, no library.
 * Build: cc -O3 -march=native -ffast-math? No: -O3 -march=native -fno-math-errno, so that sqrt vectorises and NaN keeps its meaning. */
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
    double *Z = calloc((size_t)d * n, 8), *q = calloc(n, 8), *s = calloc(n, 8);
    double weight = 0.0, regret = 0.0;
    for (int t = 0; t < T; t++) {
        for (int i = 0; i < d; i++)
            for (int j = 0; j <= i; j++) {
                double v = A[i * d + j] + (i == j ? lam : 0.0);
                for (int k = 0; k < j; k++) v -= F[i * d + k] * F[j * d + k];
                F[i * d + j] = i == j ? sqrt(v) : v / F[j * d + j];
            }
        for (int i = 0; i < d; i++) {
            double v = b[i];
            for (int k = 0; k < i; k++) v -= F[i * d + k] * th[k];
            th[i] = v / F[i * d + i];
        }
        for (int i = d - 1; i >= 0; i--) {
            th[i] /= F[i * d + i];
            for (int k = 0; k < i; k++) th[k] -= F[i * d + k] * th[i];
        }
        double beta = sqrt(lam) * S + R * sqrt(2.0 * log(1.0 / delta) + d * log(1.0 + L * L * weight / (lam * d)));
        for (int a = 0; a < n; a++) s[a] = q[a] = 0.0;
        for (int i = 0; i < d; i++) {
            double *restrict z = Z + (size_t)i * n;
            for (int a = 0; a < n; a++) z[a] = arms[i * n + a];
            for (int j = 0; j < i; j++) {
                double c = F[i * d + j];
                const double *restrict y = Z + (size_t)j * n;
                for (int a = 0; a < n; a++) z[a] -= c * y[a];
            }
            double c = 1.0 / F[i * d + i], m = th[i];
            for (int a = 0; a < n; a++) { z[a] *= c; q[a] += z[a] * z[a]; s[a] += m * arms[i * n + a]; }
        }
        double top = -INFINITY;
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
    free(A); free(F); free(b); free(th); free(x); free(Z); free(q); free(s);
    return regret;
}
