/* toolbox: small tools for texts. Without a verb it tests itself.
 *
 * All of it is one translation unit, so that the compiler sees the whole program and its start is paid for once. */

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bytes.c"
#include "sha256.c"
#include "lz.c"
#include "words.c"
#include "pattern.c"
#include "machine.c"
#include "verbs.c"
#include "selftest.c"

int main(int argc, char **argv) {
    if (argc < 2)
        return test_all() ? 1 : 0;
    for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++)
        if (!strcmp(argv[1], verbs[i].name) && argc == 2 + verbs[i].takes_text)
            return verbs[i].run(argv[2]);
    fprintf(stderr, "usage: toolbox [sha256 | compress | expand | count | sort | grep PATTERN | calc PROGRAM]\n");
    return 2;
}
