/* examples/exported/smooth.c: runs a program that pardo.export wrote: cc smooth.c $(pkg-config --cflags --libs pardo-run) */
#include <pardo/run.h>
#include <stdio.h>
#include <stdlib.h>

int main(int count, char** arguments) {
    pardo_run_program* const program = pardo_load(count > 1 ? arguments[1] : "smooth.pardo");
    if (!program) return fprintf(stderr, "%s\n", pardo_run_error()), 1;
    printf("%s, %s\n", pardo_program_signature(program), pardo_program_target(program));

    enum { rows = 6, columns = 4 };
    float values[rows * columns];
    for (int i = 0; i < rows * columns; ++i) values[i] = (float)(i + 1);
    const pardo_run_array x = {values, PARDO_FLOAT32, 2, {rows, columns}, NULL};
    pardo_run_array y = {0};  // gets memory, a dtype and a shape
    if (pardo_run(program, &x, 1, &y, 1) != 0) return fprintf(stderr, "%s\n", pardo_run_error()), 1;
    for (int64_t i = 0; i < y.shape[0]; ++i)
        for (int64_t j = 0; j < y.shape[1]; ++j) printf("%.6f%c", ((float*)y.data)[i * y.shape[1] + j], j + 1 < y.shape[1] ? ' ' : '\n');
    pardo_run_free(y.data);
    pardo_unload(program);
    return 0;
}
