/* What the program does: from the standard input to the standard output. */

static struct bytes read_all(void) {
    struct bytes all = {0};
    for (int c; (c = getchar()) != EOF;)
        put(&all, c);
    as_text(&all);
    return all;
}

static void write_all(struct bytes *old) {
    fwrite(old->data, 1, old->size, stdout);
    release(old);
}

static int run_sha256(const char *unused) {
    (void)unused;
    struct bytes all = read_all();
    char digits[65];
    sha256(all.data, all.size, digits);
    puts(digits);
    release(&all);
    return 0;
}

static int run_compress(const char *unused) {
    (void)unused;
    struct bytes all = read_all(), out = {0};
    lz_compress(all.data, all.size, &out);
    write_all(&out);
    release(&all);
    return 0;
}

static int run_expand(const char *unused) {
    (void)unused;
    struct bytes all = read_all(), out = {0};
    if (!lz_expand(all.data, all.size, &out))
        fail("this was not compressed by us");
    write_all(&out);
    release(&all);
    return 0;
}

static int run_count(const char *unused) {
    (void)unused;
    struct bytes all = read_all();
    struct map map = {0};
    count_words(&map, all.data, all.size);
    for (size_t i = 0; i < map.room; i++)
        if (map.entries[i].word)
            printf("%7ld %s\n", map.entries[i].count, map.entries[i].word);
    map_release(&map);
    release(&all);
    return 0;
}

/* The lines of a text, which is cut up for them. */
static size_t split_lines(char *text, char ***lines) {
    size_t n = 0, room = 0;
    for (*lines = NULL; *text; n++) {
        if (n == room)
            *lines = grow(*lines, (room = room ? 2 * room : 64) * sizeof **lines);
        (*lines)[n] = text;
        text += strcspn(text, "\n");
        if (*text)
            *text++ = 0;
    }
    return n;
}

static int run_sort(const char *unused) {
    (void)unused;
    struct bytes all = read_all();
    char **lines;
    size_t n = split_lines((char *)all.data, &lines);
    sort_words(lines, n);
    for (size_t i = 0; i < n; i++)
        puts(lines[i]);
    free(lines);
    release(&all);
    return 0;
}

static int run_grep(const char *text) {
    struct pattern pattern;
    if (!pattern_compile(&pattern, text))
        fail("the pattern is wrong");
    struct bytes all = read_all();
    char **lines;
    size_t n = split_lines((char *)all.data, &lines), found = 0;
    for (size_t i = 0; i < n; i++)
        if (pattern_search(&pattern, lines[i])) {
            puts(lines[i]);
            found++;
        }
    free(lines);
    release(&all);
    return found ? 0 : 1;
}

static int run_calc(const char *text) {
    struct compiler compiler;
    long long result;
    compile(&compiler, text);
    if (compiler.problem)
        fail(compiler.problem);
    if (!machine_run(&compiler, 10000000, &result))
        fail("the program does not end");
    printf("%lld\n", result);
    return 0;
}

static const struct {
    const char *name;
    bool takes_text;
    int (*run)(const char *text);
} verbs[] = {
    {"sha256", false, run_sha256}, {"compress", false, run_compress}, {"expand", false, run_expand},
    {"count", false, run_count},   {"sort", false, run_sort},
    {"grep", true, run_grep},      {"calc", true, run_calc},
};
