/* A reader of arithmetic: recursive calls, switches, many branches. */
enum kind { END, NUMBER, NAME, PLUS, MINUS, TIMES, OVER, OPEN, CLOSE, BAD };
struct reader { const char *at; enum kind kind; double number; char name; int failed; double memory[26]; };

static int is_digit(char c) { return c >= '0' && c <= '9'; }
static int is_letter(char c) { return c >= 'a' && c <= 'z'; }

static void next(struct reader *r) {
    while (*r->at == ' ' || *r->at == '\t') r->at++;
    char c = *r->at;
    if (is_digit(c)) {
        double value = 0, place = 1;
        while (is_digit(*r->at)) value = 10 * value + (*r->at++ - '0');
        if (*r->at == '.')
            for (r->at++; is_digit(*r->at); r->at++) value += (*r->at - '0') * (place /= 10);
        r->number = value;
        r->kind = NUMBER;
        return;
    }
    if (is_letter(c)) {
        r->name = c;
        r->kind = NAME;
        r->at++;
        return;
    }
    switch (c) {
    case 0: r->kind = END; return;
    case '+': r->kind = PLUS; break;
    case '-': r->kind = MINUS; break;
    case '*': r->kind = TIMES; break;
    case '/': r->kind = OVER; break;
    case '(': r->kind = OPEN; break;
    case ')': r->kind = CLOSE; break;
    default: r->kind = BAD; r->failed = 1; break;
    }
    r->at++;
}

static double sum(struct reader *r);

static double atom(struct reader *r) {
    double value = 0;
    switch (r->kind) {
    case NUMBER: value = r->number; next(r); break;
    case NAME: value = r->memory[r->name - 'a']; next(r); break;
    case MINUS: next(r); value = -atom(r); break;
    case OPEN:
        next(r);
        value = sum(r);
        if (r->kind != CLOSE) r->failed = 2;
        next(r);
        break;
    default: r->failed = 3;
    }
    return value;
}

static double product(struct reader *r) {
    double value = atom(r);
    while (!r->failed && (r->kind == TIMES || r->kind == OVER)) {
        enum kind kind = r->kind;
        next(r);
        double other = atom(r);
        if (kind == OVER && other == 0) r->failed = 4;
        value = kind == TIMES ? value * other : other != 0 ? value / other : 0;
    }
    return value;
}

static double sum(struct reader *r) {
    double value = product(r);
    while (!r->failed && (r->kind == PLUS || r->kind == MINUS)) {
        enum kind kind = r->kind;
        next(r);
        value += kind == PLUS ? product(r) : -product(r);
    }
    return value;
}

int evaluate(const char *text, const double *memory, double *answer) {
    struct reader reader = {text, END, 0, 0, 0, {0}};
    for (int i = 0; i < 26; i++) reader.memory[i] = memory[i];
    next(&reader);
    *answer = sum(&reader);
    return reader.failed ? reader.failed : reader.kind == END ? 0 : 5;
}
