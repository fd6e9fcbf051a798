/* A small language, compiled to a stack machine: i = 9; s = 0; while (i) { s = s + i * i; i = i - 1; } s */

enum op { PUSH, LOAD, STORE, ADD, SUB, MUL, DIV, MOD, LESS, SAME, NOT, NEGATE, JUMP, BRANCH, DROP, HALT };

struct instruction {
    enum op op;
    long long operand;
};

struct compiler {
    const char *at;
    struct instruction code[512];
    int n;
    const char *problem;
};

static void expression(struct compiler *c, int level);

static int emit(struct compiler *c, enum op op, long long operand) {
    if (c->n == 512) {
        c->problem = "the program is too long";
        return 0;
    }
    c->code[c->n] = (struct instruction){op, operand};
    return c->n++;
}

static bool accept(struct compiler *c, const char *word) {
    size_t size = strlen(word);
    c->at += strspn(c->at, " \t\n");
    if (strncmp(c->at, word, size) || (is_letter(word[0]) && is_letter((unsigned char)c->at[size])))
        return false;
    c->at += size;
    return true;
}

static void expect(struct compiler *c, const char *word) {
    if (!accept(c, word) && !c->problem)
        c->problem = "something is missing";
}

static void primary(struct compiler *c) {
    if (accept(c, "(")) {
        expression(c, 0);
        expect(c, ")");
    } else if (accept(c, "-")) {
        primary(c);
        emit(c, NEGATE, 0);
    } else if (accept(c, "!")) {
        primary(c);
        emit(c, NOT, 0);
    } else if (*c->at >= '0' && *c->at <= '9') {
        char *end;
        emit(c, PUSH, strtoll(c->at, &end, 10));
        c->at = end;
    } else if (*c->at >= 'a' && *c->at <= 'z')
        emit(c, LOAD, *c->at++ - 'a');
    else if (!c->problem)
        c->problem = "a value is missing";
}

static const struct {
    const char *word;
    int level;
    enum op op;
} operators[] = {
    {"<", 1, LESS}, {"==", 1, SAME}, {"+", 2, ADD}, {"-", 2, SUB}, {"*", 3, MUL}, {"/", 3, DIV}, {"%", 3, MOD},
};

/* Operators that bind more than a level; those of one level from left to right. */
static void expression(struct compiler *c, int level) {
    primary(c);
    for (size_t i = 0; i < sizeof operators / sizeof *operators && !c->problem;) {
        if (operators[i].level > level && accept(c, operators[i].word)) {
            expression(c, operators[i].level);
            emit(c, operators[i].op, 0);
            i = 0;
        } else
            i++;
    }
}

static void statement(struct compiler *c) {
    if (accept(c, "{")) {
        while (!c->problem && !accept(c, "}"))
            statement(c);
    } else if (accept(c, "while")) {
        int start = c->n;
        expression(c, 0);
        int branch = emit(c, BRANCH, 0);
        statement(c);
        emit(c, JUMP, start);
        c->code[branch].operand = c->n;
    } else if (accept(c, "if")) {
        expression(c, 0);
        int branch = emit(c, BRANCH, 0);
        statement(c);
        c->code[branch].operand = c->n;
    } else {
        const char *start = c->at;
        int name = *c->at;
        if (name >= 'a' && name <= 'z' && (c->at++, accept(c, "=")) && *c->at != '=') {
            expression(c, 0);
            emit(c, STORE, name - 'a');
        } else {
            c->at = start;
            expression(c, 0);
            accept(c, ";");
            emit(c, c->at[strspn(c->at, " \t\n")] ? DROP : HALT, 0);
            return;
        }
        expect(c, ";");
    }
}

static void compile(struct compiler *c, const char *text) {
    *c = (struct compiler){.at = text};
    while (!c->problem && c->at[strspn(c->at, " \t\n")])
        statement(c);
    emit(c, PUSH, 0); /* of a program that ends without a value */
    emit(c, HALT, 0);
}

/* Arithmetic goes around at 64 bits, in unsigned numbers: there it is defined. */
static long long arithmetic(enum op op, long long a, long long b) {
    unsigned long long x = (unsigned long long)a, y = (unsigned long long)b;
    switch (op) {
    case ADD: return (long long)(x + y);
    case SUB: return (long long)(x - y);
    case MUL: return (long long)(x * y);
    case DIV: return !b ? 0 : b == -1 ? (long long)(0 - x) : a / b;
    case MOD: return !b || b == -1 ? 0 : a % b;
    case LESS: return a < b;
    default: return a == b;
    }
}

/* The value of a program; it ends after so many steps, whatever it does. */
static bool machine_run(const struct compiler *c, long steps, long long *result) {
    long long stack[64] = {0}, names[26] = {0};
    int top = 0; /* the next free place */
    for (int at = 0; steps-- && top < 63; at++) {
        const struct instruction *now = c->code + at;
        switch (now->op) {
        case PUSH: stack[top++] = now->operand; break;
        case LOAD: stack[top++] = names[now->operand]; break;
        case STORE: names[now->operand] = stack[--top]; break;
        case NOT: stack[top - 1] = !stack[top - 1]; break;
        case NEGATE: stack[top - 1] = arithmetic(SUB, 0, stack[top - 1]); break;
        case JUMP: at = (int)now->operand - 1; break;
        case BRANCH: at = stack[--top] ? at : (int)now->operand - 1; break;
        case DROP: top--; break;
        case HALT: *result = stack[top - 1]; return true;
        default: top--; stack[top - 1] = arithmetic(now->op, stack[top - 1], stack[top]);
        }
    }
    return false;
}
