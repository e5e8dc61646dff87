/* tests/native/abi/check.c: built against the header of each minor version, and run with the tables of others. */
#include <pardo/c_api.h>

#define WANT(condition) \
    if (!(condition)) return __LINE__

static int destroyed;

static int double_all(const pardo_work* w, void* user, void** done) {
    const double* const x = (const double*)w->memory[0].address;
    double* const y = (double*)w->memory[1].address;
    (void)done;
    for (int64_t i = 0; i < w->info[0].count; ++i) y[i] = *(double*)user * x[i];
    return w->size >= sizeof(pardo_work) && w->native.backend == PARDO_CPU ? 0 : 1;
}
static void count(void* user) { destroyed += user != 0; }
static pardo_status same(const pardo_array_info* in, size_t n_in, pardo_result* out, size_t n_out, void* user) {
    (void)user;
    if (n_in != 1 || n_out != 1) return PARDO_E_VALUE;
    out->dtype = in->dtype;
    out->ndim = 1;
    out->shape[0] = in->shape[0];
    return PARDO_OK;
}
static void part(int64_t begin, int64_t end, void* user) { *(int64_t*)user += end - begin; }

/* 0, or the line where something is not as it should be. y = 2 x, and *result is a new array 2 y. With the GIL. */
int check(const pardo_api* P, void* queue_object, void* x_object, void* y_object, void** result) {
    static double two = 2;
    pardo_queue q = NULL;
    pardo_array x = NULL, y = NULL, z = NULL;
    pardo_event event = NULL;
    pardo_array_info info = {0};
    pardo_submit_options options = {0};
    int64_t covered = 0;
    const char* text = NULL;
    WANT(P->major == PARDO_ABI_MAJOR && P->size >= offsetof(pardo_api, to_py) + sizeof P->to_py);
    WANT(P->from_py(queue_object, PARDO_IS_QUEUE, (void**)&q) == PARDO_OK);
    WANT(P->from_py(x_object, PARDO_IS_ARRAY, (void**)&x) == PARDO_OK);
    WANT(P->from_py(y_object, PARDO_IS_ARRAY, (void**)&y) == PARDO_OK);
    info.size = sizeof info;
    WANT(P->array_info(x, &info) == PARDO_OK && info.ndim == 1 && info.dtype == PARDO_FLOAT64 && info.backend == PARDO_CPU);
    options.size = sizeof options;
    options.name = "check";
    options.destroy = count;
    destroyed = 0;
    pardo_use uses[2];
    uses[0].array = x;
    uses[0].access = PARDO_READ;
    uses[1].array = y;
    uses[1].access = PARDO_WRITE | PARDO_DISCARD;
    WANT(P->submit(q, uses, 2, double_all, &two, &options, &event) == PARDO_OK);
    WANT(P->event_wait(event, -1) == PARDO_OK);
    P->release(event);
    WANT(P->record(q, &y, 1, 1, same, double_all, &two, &options, &z) == PARDO_OK);
    WANT((*result = P->to_py(z, PARDO_IS_ARRAY)) != NULL);
    WANT(P->parallel_for(q, 1000, 0, part, &covered) == PARDO_OK);
    WANT(P->array_info(NULL, &info) == PARDO_E_HANDLE && P->last_error(&text) == PARDO_E_HANDLE && text);
    P->release(x);
    P->release(y);
    P->release(z);
    P->release(q);
    return 0;
}

/* What the appended function gives; -1: the table does not have it, or the header did not. */
int appended(const pardo_api* P) {
#if PARDO_ABI_MINOR >= 1
    if (P->size >= offsetof(pardo_api, twice) + sizeof P->twice) return P->twice(21);
#else
    (void)P;
#endif
    return -1;
}
