/* Small matrices and a random generator: nested loops over arrays of numbers. */
enum { N = 12 };
typedef double matrix[N][N];

void multiply(matrix out, const matrix a, const matrix b) {
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            double sum = 0;
            for (int k = 0; k < N; k++) sum += a[i][k] * b[k][j];
            out[i][j] = sum;
        }
}

int solve(matrix a, double *x) {
    for (int c = 0; c < N; c++) {
        int pivot = c;
        for (int r = c + 1; r < N; r++) {
            double here = a[r][c] < 0 ? -a[r][c] : a[r][c], best = a[pivot][c] < 0 ? -a[pivot][c] : a[pivot][c];
            if (here > best) pivot = r;
        }
        if (a[pivot][c] == 0) return 0;
        for (int k = 0; k < N; k++) {
            double kept = a[c][k];
            a[c][k] = a[pivot][k];
            a[pivot][k] = kept;
        }
        double kept = x[c];
        x[c] = x[pivot];
        x[pivot] = kept;
        for (int r = c + 1; r < N; r++) {
            double share = a[r][c] / a[c][c];
            for (int k = c; k < N; k++) a[r][k] -= share * a[c][k];
            x[r] -= share * x[c];
        }
    }
    for (int c = N - 1; c >= 0; c--) {
        for (int k = c + 1; k < N; k++) x[c] -= a[c][k] * x[k];
        x[c] /= a[c][c];
    }
    return 1;
}

static unsigned long step(unsigned long *state) {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    return *state ^= *state << 17;
}

void fill(matrix out, unsigned long seed) {
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) out[i][j] = (double)(step(&seed) >> 11) / 9007199254740992.0;
}

int histogram(const unsigned char *bytes, long n, int *counts) {
    int most = 0;
    for (int i = 0; i < 256; i++) counts[i] = 0;
    for (long i = 0; i < n; i++) counts[bytes[i]]++;
    for (int i = 1; i < 256; i++) most = counts[i] > counts[most] ? i : most;
    return most;
}
