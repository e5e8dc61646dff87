/* pardo/c_api.h: devices, queues, events, arrays, and work of native code on them, as one table of functions. C99 and C++; no Python.h.

   An extension of Python gets the table by (const pardo_api*)PyCapsule_Import("pardo._C_API", 0), and links nothing of pardo. It checks
   `major`; later versions of the same major number only append members, so `size` or `minor` says what a table has.

   Functions return a status: 0, or a code of the list below, whose text last_error() gives on the same thread. They may be called from any
   thread and throw no exception. Only from_py, to_py and call_from_py need the GIL. Handles are counted references: a function that gives a
   handle gives a reference, which release() takes back. A function that takes a handle keeps no reference, except where it says so. NULL is
   no handle, and release(NULL) does nothing. */
#ifndef PARDO_C_API_H
#define PARDO_C_API_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PARDO_ABI_MAJOR 1
#define PARDO_ABI_MINOR 0
#define PARDO_MAX_NDIM 32

/* --- handles, codes, facts ----------------------------------------------------------------------------------------------------------- */

typedef struct pardo_device_s* pardo_device; /* lives as long as the process */
typedef struct pardo_queue_s* pardo_queue;
typedef struct pardo_event_s* pardo_event; /* NULL: complete */
typedef struct pardo_array_s* pardo_array;
typedef struct pardo_program_s* pardo_program;

typedef int32_t pardo_status;
/* What a status says, and the exception that Python raises for it. */
enum {
    PARDO_OK = 0,
    PARDO_E_VALUE = 1,      /* ValueError: right type, impossible value */
    PARDO_E_TYPE = 2,       /* TypeError: wrong dtype or kind of argument */
    PARDO_E_INDEX = 3,      /* IndexError */
    PARDO_E_OVERFLOW = 4,   /* OverflowError */
    PARDO_E_MEMORY = 5,     /* MemoryError */
    PARDO_E_BUFFER = 6,     /* BufferError: an exchange that cannot be done without a copy */
    PARDO_E_PLACEMENT = 7,  /* pardo.ExecutionPlacementError: arrays of another device */
    PARDO_E_DEVICE = 8,     /* pardo.DeviceError: its driver failed, or it cannot do that */
    PARDO_E_COMPILE = 9,    /* pardo.CompileError */
    PARDO_E_IMPORT = 10,    /* ImportError: an optional library is missing */
    PARDO_E_RUNTIME = 11,   /* RuntimeError: all else */
    PARDO_E_HANDLE = 12,    /* ValueError: a handle of another kind, or one that is not alive */
    PARDO_E_TIMEOUT = 13,   /* TimeoutError: a wait with a limit */
    PARDO_E_NO_DEVICE = 14, /* pardo.DeviceNotFoundError, a DeviceError and a ValueError: no device is as it is asked for */
    PARDO_E_USER = 1000     /* and above: codes of work functions; RuntimeError */
};

enum {
    PARDO_CPU = 1,
    PARDO_OPENCL = 2,
    PARDO_CUDA = 3,
    PARDO_NULL = 4
}; /* back ends; PARDO_NULL is for tests: its memory may have no address */

/* Element types. */
enum {
    PARDO_BOOL = 1,
    PARDO_INT8 = 2,
    PARDO_INT16 = 3,
    PARDO_INT32 = 4,
    PARDO_INT64 = 5,
    PARDO_UINT8 = 6,
    PARDO_UINT16 = 7,
    PARDO_UINT32 = 8,
    PARDO_UINT64 = 9,
    PARDO_FLOAT16 = 10,
    PARDO_FLOAT32 = 11,
    PARDO_FLOAT64 = 12,
    PARDO_COMPLEX64 = 13,
    PARDO_COMPLEX128 = 14,
    PARDO_BFLOAT16 = 15
};
#define PARDO_ANY (-1) /* array_check: any dtype, any number of dimensions; array_contiguous: the dtype that it has */

enum { PARDO_MEM_DEVICE = 0, PARDO_MEM_SHARED = 1, PARDO_MEM_HOST = 2 }; /* kinds of memory, as SYCL names them */

/* Facts of an array. */
enum {
    PARDO_C_CONTIGUOUS = 1, /* row-major, without gaps */
    PARDO_F_CONTIGUOUS = 2, /* column-major, without gaps */
    PARDO_READ_ONLY = 4,
    PARDO_PENDING = 8, /* recorded, not computed; it becomes row-major, or an order of axes that suits it */
    PARDO_FOREIGN = 16 /* code outside of pardo may use the memory now; submit waits for work on such an array before it returns */
};

typedef struct pardo_array_info {
    uint32_t size; /* set by the caller: sizeof(pardo_array_info) */
    int32_t dtype;
    int32_t ndim;
    uint32_t flags;
    const int64_t* shape;   /* valid as long as the handle */
    const int64_t* strides; /* in elements; NULL while it is pending */
    int64_t count;          /* elements */
    int64_t nbytes;
    int64_t itemsize;
    int32_t backend;
    int32_t memory_kind;
    pardo_device device; /* borrowed */
    pardo_queue queue;   /* borrowed */
} pardo_array_info;

/* Where an array's first element is. `object` and `offset`: of OpenCL's memory without addresses, a cl_mem and bytes into it; there
   `address` is NULL. */
typedef struct pardo_memory {
    uint32_t size; /* sizeof(pardo_memory) */
    void* address;
    void* object;
    int64_t offset;
} pardo_memory;

/* CUDA: the number of the CUdevice and the CUcontext. OpenCL: cl_device_id, cl_context, cl_platform_id. NULL on the CPU. */
typedef struct pardo_native_device {
    uint32_t size; /* sizeof(pardo_native_device) */
    int32_t backend;
    void* device;
    void* context;
    void* platform;
} pardo_native_device;

/* --- work ---------------------------------------------------------------------------------------------------------------------------- */

enum {
    PARDO_READ = 1,   /* the work reads elements: it fails if they have failed */
    PARDO_WRITE = 2,  /* it writes elements, and may leave some as they are */
    PARDO_DISCARD = 4 /* with PARDO_WRITE alone: it writes all of them, whatever they were */
};
typedef struct pardo_use {
    pardo_array array;
    uint32_t access;
} pardo_use;

/* What a work function gets, for the time of its call. uses[i] are info[i] and memory[i]; memory[n] is the scratch memory, if some was
   asked for. `stream`: the CUstream or cl_command_queue to enqueue on; NULL on the CPU, where the function computes on a thread of the
   queue's, and parallel_for runs on its cores. The CUDA context is current. `wait`: OpenCL's events that the first command waits for; other
   streams wait already. */
typedef struct pardo_work {
    uint32_t size;
    int32_t backend;
    pardo_queue queue; /* borrowed, as all handles here */
    pardo_device device;
    void* stream;
    void* const* wait;
    uint32_t n_wait;
    uint32_t n; /* uses */
    const pardo_array_info* info;
    const pardo_memory* memory;
    pardo_native_device native;
} pardo_work;

/* Enqueues on w->stream, or computes. It is called once, perhaps later and on another thread, and pardo holds no lock meanwhile. In it all
   functions of the table may be called but those that wait, which return an error. Other than 0: the work has failed. If the function has
   called set_error, the failure has that code and text; else the code is PARDO_E_USER + the result, and the text says so. *done: a CUevent
   or cl_event that is complete when what it has enqueued is; pardo takes it over. Left NULL, pardo records one. Where the function fails,
   *done is not looked at. */
typedef int (*pardo_work_fn)(const pardo_work* w, void* user, void** done);

typedef struct pardo_submit_options {
    uint32_t size;            /* sizeof(pardo_submit_options); NULL for all of it, or 0 for a member, is the usual */
    const char* name;         /* in messages, profiles and explain */
    double cost_ns;           /* estimated time on one core; 0: unknown. On the CPU work of up to 20,000 ns runs in submit, if it waits for
                                 nothing */
    const pardo_event* after; /* events that it needs: where one has failed it does not run, and fails too */
    size_t n_after;
    size_t scratch_bytes;        /* memory for the time of the work, of undefined content, 64-byte aligned */
    void (*destroy)(void* user); /* called once, when `user` is not needed any more, also where submit fails; on any thread */
} pardo_submit_options;

/* What a recorded call gives: filled in by its shape function. */
typedef struct pardo_result {
    int32_t dtype;
    int32_t ndim;
    int64_t shape[PARDO_MAX_NDIM];
} pardo_result;
/* The results' dtypes and shapes from those of the inputs. Other than 0: set_error has said why there are none. */
typedef pardo_status (*pardo_shape_fn)(const pardo_array_info* inputs, size_t n_inputs, pardo_result* results, size_t n_results,
                                       void* user);

/* An argument of a kernel of text. */
enum {
    PARDO_ARG_ARRAY = 1,  /* row-major, of the queue; the kernel counts as writing it, unless the driver calls the parameter constant */
    PARDO_ARG_NUMBER = 2, /* of the type that the kernel has there */
    PARDO_ARG_BYTES = 3,  /* a structure */
    PARDO_ARG_LOCAL = 4,  /* memory that a work-group shares */
    PARDO_ARG_NULL = 5    /* a pointer without memory */
};
typedef struct pardo_argument {
    int32_t kind;
    int32_t dtype;     /* of a number */
    pardo_array array; /* of an array */
    const void* value; /* of a number and a structure */
    size_t bytes;      /* of a structure, and of memory that a work-group shares */
} pardo_argument;
/* Two of them, as initializers; a number is at the address. */
/* clang-format off */
#define PARDO_ARRAY(array) {PARDO_ARG_ARRAY, 0, array, NULL, 0}
#define PARDO_NUMBER(dtype, address) {PARDO_ARG_NUMBER, dtype, NULL, address, 0}
/* clang-format on */
/* Dimension d is get_global_id(d) in OpenCL C, and x, y or z in CUDA C++. */
typedef struct pardo_range {
    uint32_t size; /* sizeof(pardo_range) */
    int32_t ndim;
    int64_t global[3]; /* items */
    int64_t local[3];  /* of a work-group, which divide those; local[0] == 0: the device chooses */
} pardo_range;

/* A function of C for objects of Python: handles, one for each of them, which stay the table's; a new reference to its result, if it has
   one, goes to *out. */
typedef pardo_status (*pardo_call_fn)(void* const* handles, size_t n, void* user, void** out);

/* --- the table ----------------------------------------------------------------------------------------------------------------------- */

enum { PARDO_QUEUE_OUT_OF_ORDER = 1, PARDO_QUEUE_PROFILING = 2 };
enum { PARDO_QUEUED = 0, PARDO_RUNNING = 1, PARDO_COMPLETE = 2, PARDO_FAILED = 3 }; /* event_status */
/* device_text. */
enum { PARDO_DEVICE_ID, PARDO_DEVICE_NAME, PARDO_DEVICE_VENDOR, PARDO_DEVICE_DRIVER, PARDO_DEVICE_BACKEND, PARDO_DEVICE_ARCHITECTURE };
/* device_number; 0 where the driver cannot tell. */
enum {
    PARDO_DEVICE_KIND,          /* PARDO_CPU … PARDO_NULL */
    PARDO_DEVICE_COMPUTE_UNITS, /* cores, multiprocessors */
    PARDO_DEVICE_MEMORY,        /* bytes */
    PARDO_DEVICE_GROUP_ITEMS,   /* of a work-group, at most */
    PARDO_DEVICE_GROUP_MEMORY,  /* bytes that a work-group shares */
    PARDO_DEVICE_SUB_GROUP,     /* items of a warp; 0: there are none */
    PARDO_DEVICE_FLOAT64,       /* 1: it has float64 */
    PARDO_DEVICE_HOST_MEMORY    /* 1: the host reads and writes its memory in place */
};
/* What from_py is to find, and to_py makes. */
enum { PARDO_IS_DEVICE = 1, PARDO_IS_QUEUE = 2, PARDO_IS_EVENT = 3, PARDO_IS_ARRAY = 4 };

typedef struct pardo_api {
    uint32_t size; /* of the table, in bytes */
    uint16_t major, minor;
    const char* version; /* of pardo: "0.1.0" */

    /* The last error of this thread; the text is valid until its next one. set_error returns its code: return P->set_error(…). */
    pardo_status (*last_error)(const char** text);
    pardo_status (*set_error)(pardo_status code, const char* text);
    void (*retain)(void* handle);
    void (*release)(void* handle);

    /* Devices. A selector is "gpu", "opencl:1", "cuda,cpu"; NULL: the default device of this thread, or of the process. */
    pardo_status (*device_find)(const char* selector, pardo_device* out);
    /* Those that are visible: `count` gets how many there are, `out` up to `capacity` of them. */
    pardo_status (*device_list)(pardo_device* out, size_t capacity, size_t* count);
    /* Ends with a zero, cut off where it does not fit; `needed`, if not NULL, gets the bytes of all of it with the zero. */
    pardo_status (*device_text)(pardo_device device, int32_t which, char* out, size_t capacity, size_t* needed);
    pardo_status (*device_number)(pardo_device device, int32_t which, int64_t* out);
    pardo_status (*device_native)(pardo_device device, pardo_native_device* out);

    /* Queues. */
    pardo_status (*queue_of)(pardo_device device, pardo_queue* out); /* the canonical one, in order; NULL: of the default device */
    pardo_status (*queue_new)(pardo_device device, uint32_t flags, pardo_queue* out);
    pardo_status (*queue_device)(pardo_queue queue, pardo_device* out);
    /* A queue on a driver's own, in the order that that has: a CUstream of the device's primary context (NULL: the legacy default stream),
       or a cl_command_queue of the context that device_native gives. destroy(owner) is called when the queue's last work is over, and not
       at all where this fails. */
    pardo_status (*queue_from_native)(pardo_device device, void* stream, void* owner, void (*destroy)(void* owner), pardo_queue* out);
    /* Its CUstream or cl_command_queue; NULL on the CPU, and of a queue that has several streams. What is enqueued there by others is in no
       order with deferred work of pardo's: submit is. */
    pardo_status (*queue_native)(pardo_queue queue, void** stream);
    pardo_status (*queue_wait)(pardo_queue queue); /* the first failure that is not acknowledged is this call's status */
    /* Complete after all that was submitted before, and `after`; all that is submitted later comes after it. */
    pardo_status (*queue_barrier)(pardo_queue queue, const pardo_event* after, size_t n_after, pardo_event* out);

    /* Events. */
    /* An event that event_complete completes. If its last handle is released before that, the event fails. */
    pardo_status (*event_new)(pardo_event* out);
    /* With a code other than 0 it fails. */
    pardo_status (*event_complete)(pardo_event event, pardo_status code, const char* text);
    pardo_status (*event_wait)(pardo_event event,
                               int64_t timeout_ns); /* negative: no limit; else PARDO_E_TIMEOUT. Its failure is the status */
    int32_t (*event_status)(pardo_event event);
    /* Complete when a driver's event is, which stays the caller's and may be destroyed at once: a CUevent that has been recorded, or a
       cl_event of the context that device_native gives. */
    pardo_status (*event_from_native)(pardo_device device, void* native, pardo_event* out);
    /* A new event of the driver's that is complete when `event` is, for streams of others; the caller destroys it (cuEventDestroy,
       clReleaseEvent). Work that the driver does not know yet is waited for; the status is its failure. */
    pardo_status (*event_to_native)(pardo_event event, pardo_device device, void** native);
    /* Calls f(status, user) once on a thread of pardo's when the event is complete or has failed, then destroy(user), if not NULL. */
    pardo_status (*event_then)(pardo_event event, void (*f)(pardo_status status, void* user), void* user, void (*destroy)(void* user));

    /* Arrays. array_info computes nothing and waits for nothing. */
    pardo_status (*array_info)(pardo_array array, pardo_array_info* out);
    /* The same, and an error that begins with `what` ("gemv: a") where the array is of another dtype, number of dimensions, or has not all
       of `flags`. A pending array is taken for one that will be row-major. `out` may be NULL. */
    pardo_status (*array_check)(pardo_array array, const char* what, int32_t dtype, int32_t ndim, uint32_t flags, pardo_array_info* out);
    /* The same of several arrays, which are to be row-major, by a declaration of them: name "gemv" and parameters "float64 a[m,n], float64
       x[n], float64 y[m]". A name of an extent is one number wherever it stands, 3 is itself, `any` is any dtype. extents, if not NULL: one
       for each name, in the order in which they come first. */
    pardo_status (*arrays_check)(const char* name, const char* parameters, const pardo_array* arrays, size_t n, int64_t* extents);
    pardo_status (*array_empty)(pardo_queue queue, int32_t dtype, int32_t ndim, const int64_t* shape, int32_t memory_kind,
                                pardo_array* out);
    /* An array on memory of others, which the queue's device can use; strides in elements, NULL: row-major. destroy(owner) is called when
       the last use is over, and not at all where this fails. `ready`: what writes the memory now. flags: PARDO_READ_ONLY. */
    pardo_status (*array_wrap)(pardo_queue queue, void* address, int32_t dtype, int32_t ndim, const int64_t* shape, const int64_t* strides,
                               uint32_t flags, pardo_event ready, void* owner, void (*destroy)(void* owner), pardo_array* out);
    /* A DLManagedTensorVersioned (DLPack 1.x) of the array's memory, for other libraries; its deleter may be called on any thread. Memory
       of the host is complete when this returns; of CUDA when `stream` gets there, a CUstream (NULL: the legacy default stream), which has
       to be NULL elsewhere. PARDO_E_BUFFER: other libraries do not reach the memory. */
    pardo_status (*array_to_dlpack)(pardo_array array, void* stream, void** managed);
    /* An array on the memory of a DLManagedTensorVersioned, which is taken over: its deleter is called when the last use is over, and where
       this fails. `queue`: NULL is the canonical one of the tensor's device. Memory that its device cannot use in place is copied. `ready`:
       as of array_wrap; memory of CUDA is ready, or used before on the queue's stream. */
    pardo_status (*array_from_dlpack)(pardo_queue queue, void* managed, pardo_event ready, pardo_array* out);
    /* Hands over what has been recorded for the array. The event is complete when its elements are computed. */
    pardo_status (*array_force)(pardo_array array, pardo_event* out);
    /* Row-major, of that dtype (PARDO_ANY: its own): the array itself if it is, else a new one. */
    pardo_status (*array_contiguous)(pardo_array array, int32_t dtype, pardo_array* out);
    /* Copies elements to an array of the same shape and dtype, on any device. */
    pardo_status (*array_copy)(pardo_queue queue, pardo_array to, pardo_array from, const pardo_event* after, size_t n_after,
                               pardo_event* out);
    /* Hands over what has been recorded for it; says nothing of when the elements are computed. */
    pardo_status (*array_memory)(pardo_array array, pardo_memory* out);

    /* Work: the way in which native code uses arrays. They are of the queue's device, of whichever of its queues. What was recorded before
       and reads what the work writes sees the elements from before. The arrays stay alive until the event is complete. */
    pardo_status (*submit)(pardo_queue queue, const pardo_use* uses, size_t n_uses, pardo_work_fn fn, void* user,
                           const pardo_submit_options* options, pardo_event* out);
    /* f(begin, end, user) for parts of [0, n), on the cores of a CPU's queue; `grain`: the least that is worth a core of its own, 0:
       unknown. On other devices, and inside of f, the calling thread does all. It returns when all is done. */
    pardo_status (*parallel_for)(pardo_queue queue, int64_t n, int64_t grain, void (*f)(int64_t begin, int64_t end, void* user),
                                 void* user);
    int32_t (*thread_count)(pardo_queue queue);
    /* Sets an argument of a cl_kernel to uses[use], whichever kind of memory it has; use == n: the scratch memory. Threads that share a
       kernel set its arguments and enqueue it one at a time: keep one a thread, or lock. */
    pardo_status (*opencl_set_array)(const pardo_work* w, void* kernel, uint32_t index, size_t use);
    /* What libraries give that a work function calls. library_functions: functions by their names ("f g"; all of them go to out, or none),
       of the first library of a list ("libcublas.so.13 libcublas.so.12") that can be opened, among them those of NVIDIA's packages of
       Python; it stays open. kept_for: what make(out), which gives 0 or a code, has given for the work's device on this thread at first
       use; it stays, for all who name the same `make`. For a cublasHandle_t and the like, which threads do not share. */
    pardo_status (*library_functions)(const char* libraries, const char* names, void** out);
    pardo_status (*kept_for)(const pardo_work* w, int (*make)(void** out), void** out);
    /* A node: its results are computed by `fn`, as submit would, when they are needed, with the inputs as they are now. In fn the inputs
       come first, then the results. */
    pardo_status (*record)(pardo_queue queue, const pardo_array* inputs, size_t n_inputs, size_t n_results, pardo_shape_fn shape,
                           pardo_work_fn fn, void* user, const pardo_submit_options* options, pardo_array* results);

    /* Kernels of text. */
    /* Compiled for the device, and kept by the program cache. bytes == 0: the text ends with a zero. language: "opencl", "cuda", "spirv",
       "binary", or NULL for the device's. options: of its compiler. PARDO_E_COMPILE: what the compiler says. */
    pardo_status (*program_new)(pardo_device device, const char* text, size_t bytes, const char* language, const char* const* options,
                                size_t n_options, pardo_program* out);
    /* Launches one of its kernels, ordered by its arrays as all work. */
    pardo_status (*program_launch)(pardo_queue queue, pardo_program program, const char* kernel, const pardo_argument* arguments, size_t n,
                                   const pardo_range* range, const pardo_event* after, size_t n_after, pardo_event* out);

    /* The same of a text in the device's language, which is compiled where it comes for the first time. */
    pardo_status (*launch_text)(pardo_queue queue, const char* text, const char* kernel, const pardo_argument* arguments, size_t n,
                                const pardo_range* range, const pardo_event* after, size_t n_after, pardo_event* out);

    /* Objects of Python. All need the GIL. from_py: PARDO_E_TYPE where the object is none; arrays of other libraries are taken without a
       copy. to_py: a new reference; the handle stays the caller's. NULL: Python's error is set. */
    pardo_status (*from_py)(void* object, int32_t kind, void** handle);
    void* (*to_py)(void* handle, int32_t kind);
    /* Makes handles of objects of Python, and calls f with them, without the GIL: a binding of f needs no more. `kinds` has a letter for
       each object, d device, q queue, e event, a array; a last letter with a * stands for any number ("qaae*"). Gives the result as an
       object (PARDO_IS_DEVICE … PARDO_IS_ARRAY; 0: None). NULL: an exception of Python is set, that of f's status or of an object that does
       not suit, which `name` begins. */
    void* (*call_from_py)(const char* name, const char* kinds, void* const* objects, size_t n, int32_t result, pardo_call_fn f, void* user);
} pardo_api;

#ifdef __cplusplus
}
#endif
#endif
