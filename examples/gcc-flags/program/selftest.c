/* The program tests itself, so that a build with unusual flags can be trusted. */

static int n_failed;

static void expect_that(bool holds, const char *what) {
    if (!holds) {
        fprintf(stderr, "toolbox: wrong: %s\n", what);
        n_failed++;
    }
}

static void test_sha256(void) {
    char digits[65];
    sha256((const unsigned char *)"abc", 3, digits);
    expect_that(!strcmp(digits, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"), "sha256 of abc");
    sha256((const unsigned char *)"", 0, digits);
    expect_that(!strcmp(digits, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"), "sha256 of none");
}

/* Texts that repeat themselves, but not too regularly. */
static struct bytes sample(size_t size) {
    struct bytes text = {0};
    uint32_t state = 1;
    while (text.size < size) {
        char word[16];
        state = state * 1664525u + 1013904223u;
        sprintf(word, "word_%u ", (unsigned)(state >> 27));
        put_text(&text, word);
    }
    as_text(&text);
    return text;
}

static void test_lz(void) {
    for (size_t size = 0; size < 5000; size = 3 * size + 1) {
        struct bytes text = sample(size), packed = {0}, back = {0};
        lz_compress(text.data, text.size, &packed);
        expect_that(lz_expand(packed.data, packed.size, &back), "expanding");
        bool same = back.size == text.size && (!size || !memcmp(back.data, text.data, text.size));
        expect_that(same, "what was compressed");
        expect_that(size < 1000 || 2 * packed.size < text.size, "the size of what was compressed");
        struct bytes torn = {0};
        expect_that(!lz_expand(packed.data, packed.size - 1, &torn), "a torn end");
        release(&text);
        release(&packed);
        release(&back);
        release(&torn);
    }
}

static void test_words(void) {
    struct bytes text = sample(4000);
    char **lines;
    struct map map = {0};
    for (size_t i = 0; i < text.size; i++)
        text.data[i] = text.data[i] == ' ' ? '\n' : text.data[i];
    size_t n = split_lines((char *)text.data, &lines);
    for (size_t i = 0; i < n; i++)
        ++*map_count(&map, lines[i], strlen(lines[i]));
    sort_words(lines, n);
    for (size_t i = 1; i < n; i++)
        expect_that(strcmp(lines[i - 1], lines[i]) <= 0, "the order of words");
    for (size_t i = 0, start = 0; i < n; i++)
        if (i + 1 == n || strcmp(lines[i], lines[i + 1])) {
            expect_that(*map_count(&map, lines[i], strlen(lines[i])) == (long)(i + 1 - start), "the count of a word");
            start = i + 1;
        }
    expect_that(distance("kitten", "sitting") == 3 && distance("", "abc") == 3, "the distance of words");
    map_release(&map);
    free(lines);
    release(&text);
}

static void test_pattern(void) {
    static const struct {
        const char *pattern, *line;
        bool matches;
    } cases[] = {
        {"^a.c$", "abc", true},          {"^a.c$", "abcd", false},    {"colou?r", "my color", true},
        {"^(ab|cd)+$", "abcdab", true},  {"^(ab|cd)+$", "abc", false}, {"[0-9]+\\.[0-9]*", "pi is 3.14", true},
        {"^[^x-z]*$", "abyc", false},    {"(a*)*b", "aaaaaaaaaaaaaaaaaaaaaaaa", false}, {"x|y|z$", "lazy", true},
        {"", "", true},
    };
    struct pattern pattern;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        expect_that(pattern_compile(&pattern, cases[i].pattern), "a pattern");
        expect_that(pattern_search(&pattern, cases[i].line) == cases[i].matches, cases[i].pattern);
    }
    expect_that(!pattern_compile(&pattern, "(a") && !pattern_compile(&pattern, "a)"), "a pattern that is wrong");
}

static long long calculated(const char *text) {
    struct compiler compiler;
    long long result = -1;
    compile(&compiler, text);
    return compiler.problem || !machine_run(&compiler, 100000, &result) ? -1 : result;
}

static void test_machine(void) {
    expect_that(calculated("2 + 3 * (4 - 1) - 10 / 3 % 2") == 10, "arithmetic");
    expect_that(calculated("i = 9; s = 0; while (i) { s = s + i * i; i = i - 1; } s") == 285, "a loop");
    expect_that(calculated("a = 0; b = 1; n = 50; while (n) { c = a + b; a = b; b = c; n = n - 1; } a") == 12586269025,
                "Fibonacci numbers");
    expect_that(calculated("x = 7; if (x % 2 == 1) x = -x; !x + x") == -7, "a condition");
    expect_that(calculated("while (1) {}") == -1 && calculated("1 +") == -1, "programs that are wrong");
}

static int test_all(void) {
    test_sha256();
    test_lz();
    test_words();
    test_pattern();
    test_machine();
    puts(n_failed ? "toolbox: something is wrong" : "toolbox: all is well");
    return n_failed;
}
