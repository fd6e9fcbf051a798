/* Regular expressions: compiled to a small program that runs all alternatives side by side, so that none is slow. */

enum pattern_op { P_CHAR, P_ANY, P_SET, P_START, P_END, P_SPLIT, P_JUMP, P_MATCH };

struct pattern_step {
    unsigned char op, c;
    bool negated;
    int x, y; /* where it goes on; of a set: where it begins and ends in the text */
};

struct pattern {
    const char *text;
    size_t at;
    struct pattern_step steps[256];
    int n;
    bool bad;
};

static void pattern_either(struct pattern *p);

static int pattern_emit(struct pattern *p, enum pattern_op op, int x, int y) {
    if (p->n == 256) {
        p->bad = true;
        return 0;
    }
    p->steps[p->n] = (struct pattern_step){.op = (unsigned char)op, .x = x, .y = y};
    return p->n++;
}

/* Room for a step before those from `start` on: what they jump to moves with them. */
static void pattern_insert(struct pattern *p, int start) {
    pattern_emit(p, P_JUMP, 0, 0);
    for (int i = p->n - 1; i > start; i--) {
        p->steps[i] = p->steps[i - 1];
        if (p->steps[i].op == P_SPLIT || p->steps[i].op == P_JUMP) {
            p->steps[i].x++;
            p->steps[i].y++;
        }
    }
}

static void pattern_set(struct pattern *p) {
    bool negated = p->text[p->at] == '^';
    size_t start = p->at += negated;
    const char *end = p->text[start] ? strchr(p->text + start + 1, ']') : NULL;
    if (!end) {
        p->bad = true;
        return;
    }
    p->at = (size_t)(end - p->text) + 1;
    p->steps[pattern_emit(p, P_SET, (int)start, (int)(end - p->text))].negated = negated;
}

static void pattern_atom(struct pattern *p) {
    char c = p->text[p->at++];
    if (c == '(') {
        pattern_either(p);
        p->bad |= p->text[p->at] != ')';
        p->at += !p->bad;
    } else if (c == '[')
        pattern_set(p);
    else if (c == '.' || c == '^' || c == '$')
        pattern_emit(p, c == '.' ? P_ANY : c == '^' ? P_START : P_END, 0, 0);
    else {
        c = c == '\\' && p->text[p->at] ? p->text[p->at++] : c;
        p->steps[pattern_emit(p, P_CHAR, 0, 0)].c = (unsigned char)c;
    }
}

static void pattern_repeat(struct pattern *p, int start, char how) {
    if (how == '+') {
        pattern_emit(p, P_SPLIT, start, p->n + 1);
        return;
    }
    pattern_insert(p, start);
    if (how == '*')
        pattern_emit(p, P_JUMP, start, 0);
    p->steps[start] = (struct pattern_step){.op = P_SPLIT, .x = start + 1, .y = p->n};
}

static void pattern_sequence(struct pattern *p) {
    while (!p->bad && p->text[p->at] && !strchr("|)", p->text[p->at])) {
        int start = p->n;
        pattern_atom(p);
        while (!p->bad && p->text[p->at] && strchr("*+?", p->text[p->at]))
            pattern_repeat(p, start, p->text[p->at++]);
    }
}

static void pattern_either(struct pattern *p) {
    int start = p->n;
    pattern_sequence(p);
    if (p->bad || p->text[p->at] != '|')
        return;
    p->at++;
    pattern_insert(p, start);
    int jump = pattern_emit(p, P_JUMP, 0, 0);
    p->steps[start] = (struct pattern_step){.op = P_SPLIT, .x = start + 1, .y = p->n};
    pattern_either(p);
    p->steps[jump].x = p->n;
}

static bool pattern_compile(struct pattern *p, const char *text) {
    *p = (struct pattern){.text = text};
    pattern_either(p);
    pattern_emit(p, P_MATCH, 0, 0);
    return !p->bad && !text[p->at];
}

static bool pattern_in_set(const struct pattern *p, const struct pattern_step *step, int c) {
    bool found = false;
    for (int i = step->x; i < step->y; i++) {
        int low = (unsigned char)p->text[i], high = low;
        if (i + 2 < step->y && p->text[i + 1] == '-') {
            high = (unsigned char)p->text[i + 2];
            i += 2;
        }
        found |= c >= low && c <= high;
    }
    return found != step->negated;
}

static bool pattern_takes(const struct pattern *p, const struct pattern_step *step, int c) {
    switch (step->op) {
    case P_CHAR: return c == step->c;
    case P_ANY: return true;
    case P_SET: return pattern_in_set(p, step, c);
    default: return false;
    }
}

/* Note a step and all that follow it without a character; true if the match is there. */
static bool pattern_enter(const struct pattern *p, bool *set, int at, bool is_start, bool is_end) {
    if (set[at])
        return false;
    set[at] = true;
    const struct pattern_step *step = p->steps + at;
    switch (step->op) {
    case P_MATCH: return true;
    case P_JUMP: return pattern_enter(p, set, step->x, is_start, is_end);
    case P_SPLIT:
        return pattern_enter(p, set, step->x, is_start, is_end) | pattern_enter(p, set, step->y, is_start, is_end);
    case P_START: return is_start && pattern_enter(p, set, at + 1, is_start, is_end);
    case P_END: return is_end && pattern_enter(p, set, at + 1, is_start, is_end);
    default: return false;
    }
}

/* Does the pattern match somewhere in the line? */
static bool pattern_search(const struct pattern *p, const char *line) {
    bool sets[2][256] = {{false}};
    for (size_t i = 0;; i++) {
        bool *now = sets[i % 2], *next = sets[1 - i % 2];
        if (pattern_enter(p, now, 0, i == 0, !line[i]))
            return true;
        if (!line[i])
            return false;
        memset(next, 0, sizeof sets[0]);
        for (int at = 0; at < p->n; at++)
            if (now[at] && pattern_takes(p, p->steps + at, (unsigned char)line[i]) &&
                pattern_enter(p, next, at + 1, false, !line[i + 1]))
                return true;
    }
}
