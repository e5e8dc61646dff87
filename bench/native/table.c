/* bench/native/table.c: what functions of pardo/c_api.h take, called in loops without an interpreter between them: nanoseconds a call. */
#include <pardo/c_api.h>
#include <time.h>

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}
static int nothing(const pardo_work* w, void* user, void** done) {
    (void)w, (void)user, (void)done;
    return 0;
}

/* A handle of an object of Python, made and released. With the GIL. */
double handle(const pardo_api* P, void* object, int n) {
    const double start = now();
    for (int k = 0; k < n; ++k) {
        void* made = NULL;
        if (P->from_py(object, PARDO_IS_ARRAY, &made)) return -1;
        P->release(made);
    }
    return (now() - start) / n;
}

double facts(const pardo_api* P, void* object, int n) {
    pardo_array x = NULL;
    pardo_array_info info = {sizeof info};
    if (P->from_py(object, PARDO_IS_ARRAY, (void**)&x)) return -1;
    const double start = now();
    for (int k = 0; k < n; ++k)
        if (P->array_info(x, &info)) return -1;
    const double end = now();
    P->release(x);
    return (end - start) / n;
}

/* Work that does nothing, on a queue of the CPU and as many arrays; of a stated cost it runs in the call. Without the wait for its end. */
double submitted(const pardo_api* P, void* queue_object, void* object, int arrays, double cost_ns, int n) {
    pardo_queue q = NULL;
    pardo_array x = NULL;
    if (P->from_py(queue_object, PARDO_IS_QUEUE, (void**)&q) || P->from_py(object, PARDO_IS_ARRAY, (void**)&x)) return -1;
    const pardo_use uses[3] = {{x, PARDO_READ}, {x, PARDO_READ}, {x, PARDO_READ}};
    pardo_submit_options options = {sizeof options};
    options.name = "nothing";
    options.cost_ns = cost_ns;
    const double start = now();
    for (int k = 0; k < n; ++k) {
        pardo_event event = NULL;
        if (P->submit(q, uses, (size_t)arrays, nothing, NULL, &options, &event)) return -1;
        P->release(event);
    }
    const double end = now();
    P->queue_wait(q);
    P->release(x);
    P->release(q);
    return (end - start) / n;
}
