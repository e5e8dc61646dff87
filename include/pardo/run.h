/* include/pardo/run.h: runs programs that pardo.export wrote, from C and C++, without Python, compiler or the rest of pardo: link
   libpardo_run.a, as `pkg-config --static --libs pardo-run` says. All functions are safe from any thread. */
#ifndef PARDO_RUN_H
#define PARDO_RUN_H

#include <pardo/c_api.h> /* dtypes */
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PARDO_RUN_MAX_DIMENSIONS 64

typedef struct pardo_run_program pardo_run_program;

/* An array in host memory. */
typedef struct pardo_run_array {
    void* data;
    int32_t dtype; /* PARDO_FLOAT32, ... */
    int32_t ndim;
    int64_t shape[PARDO_RUN_MAX_DIMENSIONS];
    const int64_t* strides; /* in elements; NULL: row-major, without gaps */
} pardo_run_array;

/* Reads and checks a file. NULL: pardo_run_error() says why: not there, damaged, of another major version, for other processors, or for
   other devices alone, or it calls routines of the whole library: pardo::SavedProgram and pardo.load_program run what a file has for OpenCL
   and CUDA, and those. Loading runs nothing yet; running runs machine code of the file. */
pardo_run_program* pardo_load(const char* path);
/* NULL is allowed. No call of the program may be under way. */
void pardo_unload(pardo_run_program* program);

/* What went wrong in the last call of this thread that failed. */
const char* pardo_run_error(void);

/* "smooth(x: float64[n]) -> float64". Valid as long as the program, as the next. */
const char* pardo_program_signature(const pardo_run_program* program);
/* The processors that the code that is used was made for: "x86-64-v3". */
const char* pardo_program_target(const pardo_run_program* program);
int32_t pardo_program_inputs(const pardo_run_program* program);
int32_t pardo_program_outputs(const pardo_run_program* program);

/* The dtypes and shapes of what a call with such inputs gives; their data is not looked at. `outputs` gets data = NULL. 0, or -1. */
int32_t pardo_run_shapes(const pardo_run_program* program, const pardo_run_array* inputs, int32_t input_count, pardo_run_array* outputs,
                         int32_t output_count);

/* Runs the program, on the threads of the process, and returns when it is done. An output whose data is NULL gets memory, which
   pardo_run_free gives back, and its dtype and shape; one with data is written there, and its dtype and shape must be right. 0, or -1:
   then no output is valid. Inputs that the program writes into must be row-major. */
int32_t pardo_run(pardo_run_program* program, const pardo_run_array* inputs, int32_t input_count, pardo_run_array* outputs,
                  int32_t output_count);
void pardo_run_free(void* data);

/* How many threads run large launches: by default all processors that the process may use. Before the first call. */
void pardo_run_set_threads(int32_t count);

#ifdef __cplusplus
}
#endif

#endif /* PARDO_RUN_H */
